/**
 * How a tab stays in contact with its server, as decisions without a clock and without a network. All times are in
 * milliseconds.
 *
 * C1  A browser has six connections to a server, and a seventh waits without a word. So at most MOST_STREAMS tabs hold
 *     one, a tab holds one at most, and everything else asks again and again over connections that end at once.
 * C2  The server sends something every 5 s. What was silent for SILENT_MS is lost, whatever the browser says of it.
 * C3  A stream from which nothing comes while the server answers is held back on its way: the tab polls for a while.
 */

export const MOST_STREAMS = 4;
export const SILENT_MS = 15_000;
/** A new stream that has brought nothing for so long is held back: the first comment comes after 5 s. */
export const HELD_BACK_MS = 7_000;
/** A page that has been hidden for so long holds no connection. */
export const HIDDEN_MS = 10_000;
/** How long a tab polls before it tries a stream again that was held back. */
export const POLLING_MS = 60_000;

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;
const FIRST_POLL_MS = 250;
const LONGEST_POLL_MS = 2_000;

/** Before the next try; `failures` in a row came before, `leastMs` is what the server asked for, `chance` is from 0 to 1. */
export function pauseBeforeRetry(failures: number, chance: number, leastMs = 0): number {
  const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures);
  return Math.max(leastMs, longest * (0.5 + chance / 2));
}

/** Before it is asked again, when so many answers in a row had no event. */
export function pauseBeforePoll(emptyAnswers: number): number {
  return emptyAnswers === 0
    ? FIRST_POLL_MS
    : Math.min(LONGEST_POLL_MS, FIRST_POLL_MS * 2 ** emptyAnswers);
}

export function isSilent(lastHeard: number, now: number): boolean {
  return now - lastHeard >= SILENT_MS;
}

/** How a connection with the stream ended. */
export type StreamEnd = {
  readonly opened: number;
  readonly ended: number;
  /** When its last bytes came, comments included; null if none came. */
  readonly heard: number | null;
};

/** Until when the tab polls instead of opening a stream; 0 if it does not have to. */
export function pollUntil({ opened, ended, heard }: StreamEnd): number {
  const patience = heard === null ? HELD_BACK_MS : SILENT_MS;
  return ended - (heard ?? opened) >= patience ? ended + POLLING_MS : 0;
}

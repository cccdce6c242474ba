import type { RelayedConnection } from '../stage/relay.ts';
import type { Sample } from './samples.ts';
import { readAnswers } from './wire-text.ts';
import type { WireAnswer } from './wire-text.ts';

/** What a kill cost. */
export type Loss = {
  /** Bytes of the document that had been sent, and those of them that the process had read. */
  readonly sentBytes: number;
  readonly readBytes: number;
  readonly savedBytes: number;
  /** How long before the kill the first lost text was sent, and read by the process; 0 if nothing was lost. */
  readonly sentAgeMs: number;
  readonly readAgeMs: number;
  /** The age without the time between two looks and the machine's own stalls. */
  readonly certainAgeMs: number;
  /** What `certainAgeMs` may be: the promise, and a part of the stalls that were seen. */
  readonly allowedMs: number;
  /** Lost text that had been read longer ago than promised, without what the reader may hold back. */
  readonly overdueText: string;
};

export type LossRequest = {
  readonly document: string;
  readonly saved: Buffer;
  readonly connections: readonly RelayedConnection[];
  readonly samples: readonly Sample[];
  readonly killedAt: number;
};

/** R052: what arrived longer ago than this is saved. */
const PROMISED_MS = 100;
/** Of the stalls that are known: the kernel counts a wait only when it is over, and a look sees one wait of many. */
const UNSEEN_STALLS = 0.5;

/**
 * Measures the loss against R052.
 *
 * 1. Text counts as arrived when the process has read its bytes: those that lie in the kernel die with the
 *    connection, and no program can save them. The relay knows what was sent, the kernel's table what is unread.
 * 2. Between two looks at the table nothing is known; the earlier one counts, which makes an age too large, never too
 *    small. `certainAgeMs` takes the later one.
 * 3. A machine that gives the process no processor or no disk lengthens its 100 ms. The kernel reports that time, and
 *    `certainAgeMs` leaves it out. Half as much again is allowed for what the kernel does not report.
 */
export function measureLoss(request: LossRequest): Loss {
  const { document, saved, samples, killedAt } = request;
  const savedCharacters = saved.toString('utf8').length;
  const track = followDocument(document, request.connections);
  const sentCharacters = track.at(-1)?.reaches ?? 0;
  const lost = track.find((step) => step.reaches > savedCharacters);
  const readCharacters = charactersReadBy(track, samples.at(-1));
  const common = {
    sentBytes: Buffer.byteLength(document.slice(0, sentCharacters)),
    readBytes: Buffer.byteLength(document.slice(0, readCharacters)),
    savedBytes: saved.length,
  };
  if (lost === undefined || readCharacters <= savedCharacters) {
    return {
      ...common,
      sentAgeMs: 0,
      readAgeMs: 0,
      certainAgeMs: 0,
      allowedMs: PROMISED_MS,
      overdueText: '',
    };
  }
  const sent = request.connections[lost.connection]?.sends.find(
    (send) => send.bytes >= lost.endsAt,
  );
  const firstWithIt = samples.findIndex((sample) => hasRead(sample, lost));
  const before = samples[Math.max(0, firstWithIt - 1)];
  const after = samples[firstWithIt];
  const waited = (samples.at(-1)?.stalledMs ?? 0) - (after?.stalledMs ?? 0);
  const allowedMs = PROMISED_MS + UNSEEN_STALLS * waited;
  const certainAgeMs = Math.max(0, killedAt - (after?.at ?? killedAt) - waited);
  return {
    ...common,
    sentAgeMs: killedAt - (sent?.at ?? killedAt),
    readAgeMs: killedAt - (before?.at ?? killedAt),
    certainAgeMs,
    allowedMs,
    overdueText:
      certainAgeMs <= allowedMs
        ? ''
        : document.slice(
            savedCharacters,
            charactersReadBy(
              track,
              samples.findLast((sample) => isOverdue(sample, request)),
            ),
          ),
  };
}

function isOverdue(sample: Sample, { samples, killedAt }: LossRequest): boolean {
  const waited = (samples.at(-1)?.stalledMs ?? 0) - sample.stalledMs;
  return killedAt - sample.at - waited > PROMISED_MS + UNSEEN_STALLS * waited;
}

/** When that byte of that connection has been read, the document has been read up to that character. */
type Step = {
  readonly connection: number;
  readonly endsAt: number;
  readonly reaches: number;
};

/** Enough to find a reply's place in the document; shorter ones only repeat what is saved. */
const PLACE_CHARACTERS = 120;

function followDocument(document: string, connections: readonly RelayedConnection[]): Step[] {
  const track: Step[] = [];
  let reached = 0;
  for (const { answer, connection } of answersInOrder(connections)) {
    const start = answer.text.slice(0, PLACE_CHARACTERS);
    const isFirst = reached === 0;
    // Before the document comes the call that begins the session, and its words.
    if (isFirst ? !document.startsWith(start) : start.length < PLACE_CHARACTERS) continue;
    let position = isFirst ? 0 : document.indexOf(start);
    if (position === -1) continue;
    for (const piece of answer.pieces) {
      position += piece.characters;
      if (position <= reached || reached === document.length) continue;
      reached = Math.min(position, document.length);
      track.push({ connection, endsAt: piece.endsAt, reaches: reached });
    }
  }
  return track;
}

/** A connection serves several answers, and answers in a row may come over different connections. */
function answersInOrder(
  connections: readonly RelayedConnection[],
): readonly { readonly answer: WireAnswer; readonly connection: number }[] {
  return connections
    .flatMap(({ pieces, sends }, connection) =>
      readAnswers(Buffer.concat(pieces)).map((answer) => ({
        answer,
        connection,
        at: sends.find((send) => send.bytes > answer.startsAt)?.at ?? 0,
      })),
    )
    .toSorted((a, b) => a.at - b.at);
}

function hasRead(sample: Sample, step: Step): boolean {
  return (sample.readBytes[step.connection] ?? 0) >= step.endsAt;
}

function charactersReadBy(track: readonly Step[], sample: Sample | undefined): number {
  if (sample === undefined) return 0;
  return track.findLast((step) => hasRead(sample, step))?.reaches ?? 0;
}

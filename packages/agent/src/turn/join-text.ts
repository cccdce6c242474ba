import { countLineFeeds, type Clock, type RunEventBody } from '@orion/contracts';

import { Mailbox } from './mailbox.ts';

/** Text of one kind is joined for so long, in milliseconds: what a person reads sooner than what a file receives. */
const CHAT_MS = 30;
const CONTENT_MS = 100;
/** Held text is passed on at the latest when it has so many lines, or characters. */
const MAX_LINES = 50;
const MAX_CHARACTERS = 64 * 1024;

type Text = Extract<RunEventBody, { readonly type: 'chunk' | 'write_chunk' }>;

type Arrival<End> =
  | { readonly kind: 'due' }
  | { readonly kind: 'next'; readonly result: IteratorResult<RunEventBody, End> }
  | { readonly kind: 'failed'; readonly error: unknown };

/** An event, and the cycle of the turn in which it happened: held text may be passed on in a later one. */
export type PlacedEvent = { readonly event: RunEventBody; readonly cycleIndex: number };

/**
 * Joins the pieces of text that arrive within a moment, so that an event, its number and its row in the turn log
 * cover some lines instead of a few letters.
 *
 * 1. Text that follows a pause is passed on at once; only what comes right after it is held.
 * 2. Nothing overtakes text, and no more is asked for than somebody waits for, but for the one event that is under
 *    way when held text falls due.
 * 3. `leave` is called when the reader goes away while an event is under way, since that might never come.
 */
export async function* joinText<End>(
  events: AsyncGenerator<RunEventBody, End>,
  clock: Clock,
  cycleIndex: () => number,
  leave: () => void,
): AsyncGenerator<PlacedEvent, End> {
  const mailbox = new Mailbox<Arrival<End>>();
  let held: Text | null = null;
  let heldLines = 0;
  let heldCycle = 0;
  let passedOnAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | null = null;
  let underWay = false;

  const passOn = (text: Text): PlacedEvent => {
    cancelTimer?.();
    cancelTimer = null;
    held = null;
    passedOnAt = clock.monotonic();
    return { event: text, cycleIndex: heldCycle };
  };

  try {
    for (;;) {
      if (!underWay) {
        underWay = true;
        events.next().then(
          (result) => mailbox.push({ kind: 'next', result }),
          (error: unknown) => mailbox.push({ kind: 'failed', error }),
        );
      }
      const arrived = await mailbox.take();
      if (arrived.kind === 'due') {
        cancelTimer = null;
        if (held !== null) yield passOn(held);
        continue;
      }
      underWay = false;
      if (arrived.kind === 'failed') {
        if (held !== null) yield passOn(held);
        throw arrived.error;
      }
      if (arrived.result.done === true) {
        if (held !== null) yield passOn(held);
        return arrived.result.value;
      }
      const event = arrived.result.value;
      const joined: Text | null = held === null ? null : join(held, event);
      if (joined === null) {
        if (held !== null) yield passOn(held);
        if (!isText(event)) {
          yield { event, cycleIndex: cycleIndex() };
          continue;
        }
        heldLines = 0;
        heldCycle = cycleIndex();
      }
      const text: Text = joined ?? (event as Text);
      held = text;
      heldLines += countLineFeeds((event as Text).content ?? '');
      const wait = passedOnAt + windowOf(text) - clock.monotonic();
      if (wait <= 0 || heldLines >= MAX_LINES || (text.content ?? '').length >= MAX_CHARACTERS) {
        yield passOn(text);
      } else {
        cancelTimer ??= clock.schedule(wait, () => mailbox.push({ kind: 'due' }));
      }
    }
  } finally {
    cancelTimer?.();
    if (underWay) leave();
    await events.return(undefined as never);
  }
}

function isText(event: RunEventBody): event is Text {
  return event.type === 'chunk' ? event.source === 'model' : event.type === 'write_chunk';
}

function windowOf(text: Text): number {
  return text.type === 'chunk' ? CHAT_MS : CONTENT_MS;
}

/** Both in one, or null when they do not belong together. */
function join(held: Text, event: RunEventBody): Text | null {
  if (held.type === 'chunk') {
    if (event.type !== 'chunk' || event.source !== held.source) return null;
    return { ...held, content: held.content + event.content };
  }
  if (event.type !== 'write_chunk' || event.sessionId !== held.sessionId) return null;
  if (event.offset !== held.offset + held.length) return null;
  if (event.content === null || held.content === null) return null;
  return { ...held, length: held.length + event.length, content: held.content + event.content };
}

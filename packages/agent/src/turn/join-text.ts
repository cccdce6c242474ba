import { countLineFeeds, type Clock, type RunEventBody } from '@orion/contracts';

import type { Asides } from './asides.ts';
import { Mailbox } from './mailbox.ts';
import type { TurnStep } from './turn-step.ts';

/** Text of one kind is joined for so long, in milliseconds: what a person reads sooner than what a file receives. */
const WINDOW_MS = { chunk: 30, write_chunk: 100 } as const;
/** Held text is passed on at the latest when it has so many lines, or characters. */
const MAX_LINES = 50;
const MAX_CHARACTERS = 64 * 1024;

type Text = Extract<RunEventBody, { readonly type: 'chunk' | 'write_chunk' }>;

/** When a turn passes on its text. Each answer takes the call back; null: there will be none, it is time now. */
export interface TextPace {
  /** Calls `due` when text is to be passed on. `passedOnAt` is when that last was, by the monotonic clock. */
  hold(kind: Text['type'], passedOnAt: number, due: () => void): (() => void) | null;
  /**
   * Calls `due` when chat that was passed on at once is worth going on with: until then what the model says gathers where
   * it arrives, at less cost. Null where nothing is gained by that.
   */
  readonly ask: ((due: () => void) => (() => void) | null) | null;
}

/** That of a turn by itself. */
export function ownPace(clock: Clock): TextPace {
  return {
    hold(kind, passedOnAt, due) {
      const wait = passedOnAt + WINDOW_MS[kind] - clock.monotonic();
      return wait <= 0 ? null : clock.schedule(wait, due);
    },
    ask: null,
  };
}

type Arrival<End> =
  | { readonly kind: 'due' }
  | { readonly kind: 'aside'; readonly event: RunEventBody }
  | { readonly kind: 'ask' }
  | { readonly kind: 'next'; readonly result: IteratorResult<TurnStep, End> }
  | { readonly kind: 'failed'; readonly error: unknown };

/** An event, and the cycle of the turn in which it happened: held text may be passed on in a later one. */
export type PlacedEvent = { readonly event: TurnStep; readonly cycleIndex: number };

/**
 * Joins the pieces of text that arrive within a moment, so that an event, its number and its row in the turn log
 * cover some lines instead of a few letters.
 *
 * 1. Text is passed on when its pace says so, and at once when there is much of it.
 * 2. Nothing overtakes text, and no more is asked for than somebody waits for, but for the one event that is under
 *    way when held text falls due.
 * 3. Asides are passed on at once, behind the text that was there before them.
 * 4. Where the pace asks for chat, nothing is asked for while some is held, nor before it says so again. Content of a
 *    file is always asked for: it is saved on its way here.
 * 5. `leave` is called when the reader goes away while an event is under way, since that might never come.
 */
export async function* joinText<End>(
  events: AsyncGenerator<TurnStep, End>,
  { clock, pace }: { readonly clock: Clock; readonly pace: TextPace },
  cycleIndex: () => number,
  leave: () => void,
  asides: Pick<Asides, 'listen'> | null = null,
): AsyncGenerator<PlacedEvent, End> {
  const mailbox = new Mailbox<Arrival<End>>();
  asides?.listen((event) => mailbox.push({ kind: 'aside', event }));
  let held: Text | null = null;
  let heldLines = 0;
  let heldCycle = 0;
  let passedOnAt = Number.NEGATIVE_INFINITY;
  let cancelTimer: (() => void) | null = null;
  let cancelAsk: (() => void) | null = null;
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
      const gathers = cancelAsk !== null || (held?.type === 'chunk' && pace.ask !== null);
      if (!underWay && !gathers) {
        underWay = true;
        events.next().then(
          (result) => mailbox.push({ kind: 'next', result }),
          (error: unknown) => mailbox.push({ kind: 'failed', error }),
        );
      }
      const arrived = await mailbox.take();
      if (arrived.kind === 'ask') {
        cancelAsk = null;
        continue;
      }
      if (arrived.kind === 'due') {
        cancelTimer = null;
        if (held !== null) yield passOn(held);
        continue;
      }
      if (arrived.kind === 'aside') {
        if (held !== null) yield passOn(held);
        yield { event: arrived.event, cycleIndex: cycleIndex() };
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
      if (heldLines >= MAX_LINES || (text.content ?? '').length >= MAX_CHARACTERS) {
        yield passOn(text);
        continue;
      }
      cancelTimer ??= pace.hold(text.type, passedOnAt, () => mailbox.push({ kind: 'due' }));
      if (cancelTimer !== null) continue;
      yield passOn(text);
      if (text.type === 'chunk') {
        cancelAsk = pace.ask?.(() => mailbox.push({ kind: 'ask' })) ?? null;
      }
    }
  } finally {
    cancelTimer?.();
    cancelAsk?.();
    if (underWay) leave();
    await events.return(undefined as never);
  }
}

function isText(event: TurnStep): event is Text {
  return event.type === 'chunk' ? event.source === 'model' : event.type === 'write_chunk';
}

/** Both in one, or null when they do not belong together. */
function join(held: Text, event: TurnStep): Text | null {
  if (held.type === 'chunk') {
    if (event.type !== 'chunk' || event.source !== held.source) return null;
    return { ...held, content: held.content + event.content };
  }
  if (event.type !== 'write_chunk' || event.sessionId !== held.sessionId) return null;
  if (event.offset !== held.offset + held.length) return null;
  if (event.content === null || held.content === null) return null;
  return {
    ...event,
    offset: held.offset,
    length: held.length + event.length,
    content: held.content + event.content,
  };
}

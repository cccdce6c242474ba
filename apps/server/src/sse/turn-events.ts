/** The events of a turn for a client, as they are stored: nothing of a turn is read anywhere else. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { runEventOf } from '@orion/agent';
import { fitsLog, formatEventId, limitedSignal } from '@orion/contracts';
import type {
  Clock,
  RunEvent,
  ServedTurn,
  TurnEventsAnswer,
  TurnLog,
  TurnLogEntry,
  TurnNews,
  TurnPosition,
  TurnStreamEvent,
} from '@orion/contracts';

import { inRouteWords } from '../answers/route-hints.ts';
import { eventFrame, RESET, RESET_FRAME } from './frames.ts';

type Log = Pick<TurnLog, 'read' | 'follow'>;

/** A turn that is in the store, and where its reader is. */
export type TurnReading = { readonly turnId: string; readonly after: TurnPosition };

/** One answer to a poll is cut here, in events and in characters of JSON; one event at least is in it. */
const MAX_POLLED = 500;
const MAX_POLLED_CHARACTERS = 512 * 1024;

const eventOf = (entry: TurnLogEntry): RunEvent => inRouteWords(runEventOf(entry));

export async function* turnFrames(
  log: Log,
  reading: TurnReading,
  signal: AbortSignal,
): AsyncGenerator<string, void> {
  for await (const news of log.follow([{ ...reading, isFound: true }], signal)) {
    yield news.kind === 'reset' ? RESET_FRAME : eventFrame(eventOf(news.entry), news.entry.epoch);
  }
}

/** Whether the turn is over and its reader has all of it, so that it does not have to ask again. */
export async function hasReadAll(
  log: Log,
  { state }: Pick<ServedTurn, 'state'>,
  reading: TurnReading,
): Promise<boolean> {
  return state === 'done' && !(await hasNews(log, reading));
}

/** Whether the log has something for that reader now, be it a reset. */
async function hasNews(log: Log, { turnId, after }: TurnReading): Promise<boolean> {
  if (after.seq === 0) return (await log.read(turnId, 0, 1)).length > 0;
  const [at, next] = await log.read(turnId, after.seq - 1, 2);
  const epochAt = at?.seq === after.seq ? at.epoch : null;
  return !fitsLog(after, epochAt) || next !== undefined;
}

/**
 * What there is behind the reader; if there is nothing, it waits for that as long as it may.
 *
 * A turn whose events were folded begins with a reset for whoever asks, so its answer is not cut.
 */
export async function pollEvents(
  log: Log,
  reading: TurnReading,
  { turn, clock, waitMs, closed }: PollOptions,
): Promise<TurnEventsAnswer> {
  const isThere = await hasNews(log, reading);
  const isDone = turn.state === 'done';
  if (!isThere && (isDone || waitMs === 0)) {
    return { events: [], next: positionText(reading.after), done: isDone };
  }
  // What is there is waited for, however long the store takes.
  const limit = limitedSignal(closed, clock, isThere ? Number.POSITIVE_INFINITY : waitMs);
  const following = log
    .follow([{ ...reading, isFound: true }], limit.signal)
    [Symbol.asyncIterator]();
  const events: TurnStreamEvent[] = [];
  let { after } = reading;
  let isOver = false;
  let left = MAX_POLLED_CHARACTERS;
  let isWhole = false;
  const isFull = (): boolean => (events.length >= MAX_POLLED || left <= 0) && !isWhole;
  try {
    while (!isOver && !isFull()) {
      const next = following.next();
      // What was read together arrives at once; nothing else is waited for, but for the rest of what is not cut.
      const waits: boolean = events.length === 0 || events.at(-1)?.type === 'reset' || isWhole;
      const arrived: IteratorResult<TurnNews, unknown> | null = await (waits
        ? next
        : Promise.race([next, nextTurn(null)]));
      if (arrived === null) {
        next.catch(() => undefined);
        break;
      }
      if (arrived.done === true) {
        isOver = !limit.signal.aborted;
        break;
      }
      const news: TurnNews = arrived.value;
      if (news.kind === 'reset') isWhole = isDone && news.isFolded;
      const [event, position] = polled(news);
      events.push(event);
      after = position;
      left -= JSON.stringify(event).length;
      isOver = event.type === 'done';
    }
  } finally {
    limit.abort();
    limit.end();
    await following.return?.();
  }
  return { events, next: positionText(after), done: isOver };
}

export type PollOptions = {
  readonly turn: Pick<ServedTurn, 'state'>;
  readonly clock: Clock;
  readonly waitMs: number;
  /** Aborted when the client has gone. */
  readonly closed: AbortSignal;
};

function polled(news: TurnNews): readonly [TurnStreamEvent, TurnPosition] {
  if (news.kind === 'reset') return [RESET, { seq: 0, epoch: null }];
  return [eventOf(news.entry), news.entry];
}

function positionText({ seq, epoch }: TurnPosition): string {
  return epoch === null ? String(seq) : formatEventId({ seq, epoch });
}

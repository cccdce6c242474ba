import type { OrionClient } from '@orion/client';
import { limitedSignal, sleep, systemClock } from '@orion/contracts';
import type { TurnStreamEvent } from '@orion/contracts';

import { HELD_BACK_MS, pauseBeforePoll, pollUntil, SILENT_MS } from './stream-policy.ts';
import type { StreamSeats } from './stream-seats.ts';
import type { EventBatch, ReadEvents } from './turn-reader.ts';

/** Events that arrive within so long are drawn together, at most so many of them. */
const BATCH_MS = 30;
const MOST_IN_BATCH = 2000;

/** Where the readers of a tab get their events: one of them over a stream if there is a seat, the others by polling. */
export function createTurnSource(
  client: OrionClient,
  seats: StreamSeats,
): (turnId: string) => ReadEvents {
  /** Until then, streams are taken to be held back on their way. */
  let pollsUntil = 0;

  return (turnId) => {
    let emptyAnswers = 0;

    async function* overStream(...[after, signal, heard]: Parameters<ReadEvents>): Batches {
      const limit = limitedSignal(signal);
      const cancelPatience = systemClock.schedule(HELD_BACK_MS, () => limit.abort());
      const opened = Date.now();
      let lastBytes: number | null = null;
      const onAlive = (): void => {
        cancelPatience();
        lastBytes = Date.now();
        heard();
      };
      try {
        const options = { after, signal: limit.signal, attempts: 1, onAlive };
        yield* batchesOf(client.turns.events(turnId, options), limit.signal);
      } finally {
        cancelPatience();
        limit.abort();
        limit.end();
        pollsUntil = pollUntil({ opened, ended: Date.now(), heard: lastBytes });
      }
    }

    async function* byPolling(...[after, signal, heard]: Parameters<ReadEvents>): Batches {
      const limit = limitedSignal(signal, systemClock, SILENT_MS);
      try {
        const which = { after, wait: 0 };
        const { events, next } = await client.turns.poll(turnId, which, { signal: limit.signal });
        heard();
        yield { events, at: next };
        emptyAnswers = events.length === 0 ? emptyAnswers + 1 : 0;
      } finally {
        limit.end();
      }
      await sleep(systemClock, pauseBeforePoll(emptyAnswers), signal);
    }

    return async function* read(...reading) {
      const seat = Date.now() < pollsUntil ? null : await seats.take();
      try {
        yield* seat === null ? byPolling(...reading) : overStream(...reading);
      } finally {
        seat?.leave();
      }
    };
  };
}

type Batches = AsyncGenerator<EventBatch, void>;

type Stream = AsyncIterable<TurnStreamEvent> & { readonly lastEventId: string | null };

/**
 * Every event that arrived is passed on, also when the connection is lost right behind it: a connection that lives for
 * less than a batch leads further, too. `at` is the place of the last event of the batch, and not of one that is still
 * on its way to the next.
 */
async function* batchesOf(stream: Stream, signal: AbortSignal): Batches {
  const iterator = stream[Symbol.asyncIterator]();
  let next = iterator.next();
  try {
    for (;;) {
      const first = await next;
      if (first.done === true) return;
      const events: TurnStreamEvent[] = [first.value];
      let at = stream.lastEventId;
      next = iterator.next();
      const full = sleep(systemClock, BATCH_MS, signal);
      while (events.length < MOST_IN_BATCH) {
        // What failed is thrown to whoever asks for the next batch.
        const more = await Promise.race([next, full]).catch(() => undefined);
        if (more === undefined || more.done === true) break;
        events.push(more.value);
        at = stream.lastEventId;
        next = iterator.next();
      }
      yield { events, at: at ?? '0' };
    }
  } finally {
    // A question that is still open is answered by the abort of its connection.
    next.catch(() => undefined);
    void iterator.return?.(undefined).catch(() => undefined);
  }
}

// Hazard: what a connection brought is lost with it, or the tab reads on behind an event that it has not taken.
import type { OrionClient } from '@orion/client';
import type { TurnStreamEvent } from '@orion/contracts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { createTurnSource } from './turn-source.ts';
import type { EventBatch } from './turn-reader.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const eventOf = (seq: number): TurnStreamEvent =>
  ({ seq, type: seq === 9 ? 'done' : 'chunk' }) as unknown as TurnStreamEvent;

/** A stream that brings these events one after the other, and then fails or stays open. */
class Stream {
  lastEventId: string | null = null;
  readonly #steps: readonly (number | 'lost' | 'open')[];

  constructor(steps: readonly (number | 'lost' | 'open')[]) {
    this.#steps = steps;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TurnStreamEvent, void> {
    for (const step of this.#steps) {
      if (step === 'lost') throw new Error('lost');
      if (step === 'open') await new Promise<void>(() => undefined);
      else {
        this.lastEventId = `${step}.x`;
        yield eventOf(step);
      }
    }
  }
}

function read(steps: readonly (number | 'lost' | 'open')[]): AsyncIterator<EventBatch> {
  const client = { turns: { events: () => new Stream(steps) } } as unknown as OrionClient;
  const seats = { take: () => Promise.resolve({ leave: () => undefined }) };
  const reading = createTurnSource(client, seats)('turn');
  return reading('0', new AbortController().signal, () => undefined)[Symbol.asyncIterator]();
}

test('events that a connection brought right before it was lost are passed on', async () => {
  const batches = read([1, 2, 'lost']);
  expect((await batches.next()).value).toEqual({ events: [eventOf(1), eventOf(2)], at: '2.x' });
  await expect(batches.next()).rejects.toThrow('lost');
});

test('the place of a batch is that of its last event, and not of one that comes right behind it', async () => {
  const many = Array.from({ length: 2001 }, (_, at) => at + 1);
  const batches = read([...many, 'open']);
  const first = (await batches.next()).value as EventBatch;
  expect([first.events.length, first.at]).toEqual([2000, '2000.x']);
  const second = batches.next();
  await vi.advanceTimersByTimeAsync(30);
  expect((await second).value).toEqual({ events: [eventOf(2001)], at: '2001.x' });
});

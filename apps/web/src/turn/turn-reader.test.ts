import { OrionClientError } from '@orion/client';
import type { TurnStreamEvent } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { TurnReader } from './turn-reader.ts';
import type { EventBatch } from './turn-reader.ts';

/** Hazard: a connection that breaks, lies or falls silent loses an event, or the page says that all is well. */

const event = (seq: number, more: object = { type: 'chunk', content: `${seq}`, source: 'model' }) =>
  ({ seq, requestId: 'r', conversationId: 'c', ...more }) as unknown as TurnStreamEvent;
const done = (seq: number) => event(seq, { type: 'done', status: 'complete', fullContent: '' });
const unreachable = () => new OrionClientError({ code: 'UNREACHABLE', message: 'no', status: 0 });

type Wait = { readonly milliseconds: number; readonly ring: () => void };
/** What one connection brings: a batch, its end, or an error. */
type Arrival = EventBatch | 'end' | Error;

/** A connection that a test answers by hand. */
class Connection {
  readonly after: string;
  readonly signal: AbortSignal;
  readonly heard: () => void;
  readonly #arrivals: Arrival[] = [];
  #wake = (): void => undefined;

  constructor(after: string, signal: AbortSignal, heard: () => void) {
    this.after = after;
    this.signal = signal;
    this.heard = heard;
    signal.addEventListener('abort', () => this.push(signal.reason as Error));
  }

  push(arrival: Arrival): void {
    this.#arrivals.push(arrival);
    this.#wake();
  }

  async *read(): AsyncGenerator<EventBatch, void> {
    for (;;) {
      const arrival = this.#arrivals.shift();
      if (arrival === 'end') return;
      if (arrival instanceof Error) throw arrival;
      if (arrival !== undefined) yield arrival;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}

function setUp() {
  const asked: Connection[] = [];
  const waits: Wait[] = [];
  let time = 1000;
  const reader = new TurnReader({
    read: (...reading) => {
      const connection = new Connection(...reading);
      asked.push(connection);
      return connection.read();
    },
    now: () => time,
    random: () => 1,
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        const wait = { milliseconds, ring: resolve };
        waits.push(wait);
        signal.addEventListener('abort', () => {
          waits.splice(waits.indexOf(wait), 1);
          resolve();
        });
      }),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const last = (): Connection => {
    const connection = asked.at(-1);
    if (connection === undefined) throw new Error('nothing was asked');
    return connection;
  };
  return {
    reader,
    asked,
    waits,
    last,
    settle,
    pass: (milliseconds: number) => (time += milliseconds),
    answer: async (events: TurnStreamEvent[], at: string) => {
      last().heard();
      last().push({ events, at });
      await settle();
    },
    end: async () => {
      last().push('end');
      await settle();
    },
    fail: async (error: Error) => {
      last().push(error);
      await settle();
    },
  };
}

describe('a reader of a turn', () => {
  it('reads on from where the server says, until the turn is over', async () => {
    const { reader, asked, answer, end } = setUp();
    reader.subscribe(() => undefined);
    await answer([event(1), event(2)], '2.x');
    await answer([done(3)], '3.x');
    await end();
    expect(asked.map(({ after }) => after)).toEqual(['0']);
    expect(reader.snapshot()).toMatchObject({ view: { lastSeq: 3 }, connection: { kind: 'over' } });
  });

  it('reads a gap again from the last event that it took', async () => {
    const { reader, asked, answer } = setUp();
    const taken: number[] = [];
    reader.follow((fold) => taken.push(...fold.taken.map(({ seq }) => seq)));
    reader.subscribe(() => undefined);
    await answer([event(1), event(3)], '3.x');
    await answer([event(2), event(3)], '3.x');
    expect(asked.map(({ after }) => after)).toEqual(['0', '1']);
    expect(taken).toEqual([1, 2, 3]);
  });

  it('tries again with longer waits, keeps what it has, and says since when', async () => {
    const { reader, asked, waits, pass, answer, fail, settle } = setUp();
    reader.subscribe(() => undefined);
    await answer([event(1)], '1.x');
    pass(500);
    const seen: number[] = [];
    for (let failure = 0; failure < 8; failure += 1) {
      await fail(unreachable());
      const wait = waits.at(-1);
      seen.push(wait?.milliseconds ?? 0);
      expect(reader.snapshot()).toMatchObject({
        view: { lastSeq: 1 },
        connection: { kind: 'lost', since: 1000, nextTry: 1500 + (wait?.milliseconds ?? 0) },
      });
      waits.pop();
      wait?.ring();
      await settle();
    }
    expect(seen).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(asked.at(-1)?.after).toBe('1.x');
    await answer([event(2)], '2.x');
    expect(reader.snapshot()).toMatchObject({ view: { lastSeq: 2 }, connection: { kind: 'live' } });
  });

  it('tries at once when somebody asks for it', async () => {
    const { reader, asked, fail, settle } = setUp();
    reader.subscribe(() => undefined);
    await fail(unreachable());
    expect(asked).toHaveLength(1);
    reader.tryNow();
    await settle();
    expect(asked).toHaveLength(2);
  });

  it('stops where asking again would not help', async () => {
    const { reader, asked, fail } = setUp();
    reader.subscribe(() => undefined);
    await fail(new OrionClientError({ code: 'TURN_NOT_FOUND', message: 'no', status: 404 }));
    expect(reader.snapshot().connection).toMatchObject({
      kind: 'refused',
      error: { code: 'TURN_NOT_FOUND' },
    });
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['a tunnel without its server', 'UNEXPECTED_ANSWER', 530],
    ['a tunnel that knows no such host', 'UNEXPECTED_ANSWER', 404],
    ['a defect of the server', 'INTERNAL_ERROR', 500],
  ] as const)('asks again behind %s', async (_what, code, status) => {
    const { reader, waits, fail } = setUp();
    reader.subscribe(() => undefined);
    await fail(new OrionClientError({ code, message: 'no', status }));
    expect(reader.snapshot().connection.kind).toBe('lost');
    expect(waits).toHaveLength(1);
  });

  it('waits as long as the server asks for, and not as long as a tunnel does', async () => {
    const { reader, waits, fail, settle } = setUp();
    reader.subscribe(() => undefined);
    const facts = { message: 'no', status: 503, retryAfterMs: 3_600_000 };
    await fail(new OrionClientError({ ...facts, code: 'UNEXPECTED_ANSWER' }));
    expect(waits.at(-1)?.milliseconds).toBeLessThan(11_000);
    reader.tryNow();
    await settle();
    await fail(new OrionClientError({ ...facts, code: 'STORE_UNAVAILABLE' }));
    expect(waits.at(-1)?.milliseconds).toBe(3_600_000);
  });

  it('holds no connection while nobody looks or sees it, and catches up', async () => {
    const { reader, asked, last, answer, settle } = setUp();
    const leave = reader.subscribe(() => undefined);
    await answer([event(1)], '1.x');
    const held = last();
    reader.setShown(false);
    await settle();
    expect([held.signal.aborted, reader.snapshot().connection.kind]).toEqual([true, 'paused']);
    reader.setShown(true);
    await settle();
    expect(last().after).toBe('1.x');
    leave();
    await settle();
    expect(last().signal.aborted).toBe(true);
    reader.setShown(true);
    expect(asked).toHaveLength(2);
  });

  it('connects again at once when a connection ends that had an answer, as a poll has', async () => {
    const { reader, asked, waits, answer, end } = setUp();
    reader.subscribe(() => undefined);
    await answer([event(1)], '1.x');
    await end();
    await answer([], '1.x');
    await end();
    expect(asked.map(({ after }) => after)).toEqual(['0', '1.x', '1.x']);
    expect([waits, reader.snapshot().connection.kind]).toEqual([[], 'live']);
  });

  it('waits when a connection ends without an answer, so that it never hammers', async () => {
    const { reader, asked, waits, end } = setUp();
    reader.subscribe(() => undefined);
    await end();
    expect([asked.length, waits.length]).toEqual([1, 1]);
    expect(reader.snapshot().connection.kind).toBe('lost');
  });

  it('waits for as long as the server asks for', async () => {
    const { reader, waits, fail } = setUp();
    reader.subscribe(() => undefined);
    const busy = { code: 'RATE_LIMITED', message: 'no', status: 429, retryAfterMs: 3000 } as const;
    await fail(new OrionClientError(busy));
    expect(waits.at(-1)?.milliseconds).toBe(3000);
  });

  it('leaves a connection that was silent for 15 s when the page is shown, and no other', async () => {
    const { reader, asked, last, answer, settle, pass } = setUp();
    reader.subscribe(() => undefined);
    await answer([event(1)], '1.x');
    pass(10_000);
    last().heard();
    pass(14_999);
    reader.setShown(true);
    await settle();
    expect(asked).toHaveLength(1);
    pass(1);
    reader.setShown(true);
    await settle();
    expect(asked.map(({ after, signal }) => [after, signal.aborted])).toEqual([
      ['0', true],
      ['1.x', false],
    ]);
  });

  it('counts the time without contact from the last bytes, comments included', async () => {
    const { reader, last, answer, fail, pass } = setUp();
    reader.subscribe(() => undefined);
    await answer([event(1)], '1.x');
    pass(5000);
    last().heard();
    pass(15_000);
    await fail(unreachable());
    expect(reader.snapshot().connection).toMatchObject({ kind: 'lost', since: 6000 });
  });

  it('has contact again with the first bytes of a turn that has nothing to say', async () => {
    const { reader, waits, last, fail, settle } = setUp();
    reader.subscribe(() => undefined);
    for (const milliseconds of [250, 500]) {
      await fail(unreachable());
      expect(waits.at(-1)?.milliseconds).toBe(milliseconds);
      waits.pop()?.ring();
      await settle();
    }
    last().heard();
    expect(reader.snapshot().connection).toEqual({ kind: 'live' });
    await fail(unreachable());
    expect(waits.at(-1)?.milliseconds).toBe(250);
  });

  it('takes what is left of an old turn, of which only the main events are kept', async () => {
    const { reader, asked, answer, end } = setUp();
    reader.subscribe(() => undefined);
    await answer([{ type: 'reset', toSeq: 0 }, event(5)], '5.x');
    await answer([done(7)], '7.x');
    await end();
    expect(asked).toHaveLength(1);
    expect(reader.snapshot()).toMatchObject({ view: { lastSeq: 7 }, connection: { kind: 'over' } });
  });

  it('waits longer and longer where an event is missing in every answer', async () => {
    const { reader, asked, waits, answer, settle } = setUp();
    reader.subscribe(() => undefined);
    await answer([event(1)], '1.x');
    for (const milliseconds of [250, 500, 1000]) {
      await answer([event(3)], '3.x');
      expect(waits.at(-1)?.milliseconds).toBe(milliseconds);
      waits.pop()?.ring();
      await settle();
    }
    expect(asked.map(({ after }) => after)).toEqual(['0', '1', '1', '1']);
  });

  it('opens nothing on a page that was never shown', async () => {
    const { reader, asked, settle } = setUp();
    reader.setShown(false);
    reader.subscribe(() => undefined);
    await settle();
    expect(asked).toHaveLength(0);
    reader.setShown(true);
    await settle();
    expect(asked).toHaveLength(1);
  });
});

import type { Clock, TraceEvent, TraceStore } from '@orion/contracts';
import fastCheck from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from './fake-clock.ts';

/**
 * What every trace backend keeps.
 *
 * 1. Recording never throws and changes nothing, whatever it is given (R226, R228).
 * 2. A turn's events come back in the order in which they were recorded (R224).
 * 3. What comes back is JSON without secrets, at most 64 KiB an event (R229, R230).
 * 4. No value makes a store lose another one, and `raw` is what was recorded (B24, R227).
 * 5. `close` ends whatever the backend does: by its own deadline, and at once when it is cut. Losses are counted.
 *    `hanging` makes a store whose backend never answers; without one there is nothing that could hang.
 */
export function describeTraceStoreContract(
  name: string,
  factory: (options: { readonly clock: Clock }) => TraceStore | Promise<TraceStore>,
  { hanging }: { readonly hanging?: typeof factory } = {},
): void {
  describe(`trace store contract: ${name}`, () => {
    const withStore = async (
      use: (store: TraceStore, clock: ReturnType<typeof createFakeClock>) => Promise<void>,
    ): Promise<void> => {
      const clock = createFakeClock(1_000_000);
      const store = await factory({ clock });
      try {
        await use(store, clock);
      } finally {
        await store.close();
      }
    };

    /** Records one value and gives back how it is stored. */
    const stored = async (store: TraceStore, details: unknown): Promise<TraceEvent> => {
      store.record({ type: 'probe', requestId: 'probe', details });
      await store.flush();
      const event = (await store.getTrace('probe')).at(-1);
      if (event === undefined) throw new Error('The event was not kept');
      return event;
    };

    test.skipIf(hanging === undefined)(
      'close ends at its deadline, and at once when it is cut, with a backend that hangs',
      async () => {
        for (const isCut of [true, false]) {
          const clock = createFakeClock(1_000_000);
          const store = await hanging?.({ clock });
          store?.record({ type: 'lost', requestId: 'r' });
          // The backend has been given it, and does not answer.
          await clock.advance(500);
          const cut = new AbortController();
          let ended = false;
          const closing = store?.close(cut.signal).then(() => {
            ended = true;
          });
          await clock.advance(0);
          expect(ended).toBe(false);
          if (isCut) cut.abort();
          else await clock.advance(60_000);
          await closing;
          expect(store?.dropped()).toBe(1);
          expect(clock.pending()).toBe(0);
        }
      },
    );

    test('both forms of record; a turn comes back in its order', () =>
      withStore(async (store, clock) => {
        store.record({
          type: 'first',
          requestId: 'r1',
          phaseIndex: 0,
          cycleIndex: 0,
          details: { a: 1 },
        });
        store.record({ type: 'other', requestId: 'r2' });
        await clock.advance(5);
        store.record({ type: 'second', requestId: 'r1', timestamp: 7 });
        store.record('third', { b: 2 });
        await store.flush();
        const turn = await store.getTrace('r1');
        expect(turn.map((event) => event.type)).toEqual(['first', 'second']);
        expect(turn[0]).toMatchObject({
          phaseIndex: 0,
          cycleIndex: 0,
          timestamp: 1_000_000,
          details: { a: 1 },
          raw: '{"a":1}',
          truncated: false,
          sessionId: null,
        });
        expect(turn[1]).toMatchObject({ timestamp: 7, phaseIndex: null });
        expect(await store.query({ type: 'third' })).toMatchObject([
          { details: { b: 2 }, timestamp: 1_000_005, requestId: null },
        ]);
        expect(store.dropped()).toBe(0);
      }));

    test('filters by project, request, session, type, time and number', () =>
      withStore(async (store) => {
        for (let index = 0; index < 6; index++) {
          store.record({
            type: index % 2 === 0 ? 'even' : 'odd',
            projectId: index < 3 ? 'p1' : 'p2',
            requestId: `r${index}`,
            sessionId: `s${index % 3}`,
            timestamp: index * 10,
          });
        }
        await store.flush();
        const find = async (filter: Parameters<TraceStore['query']>[0]) =>
          (await store.query(filter)).map((event) => event.requestId);
        expect(await find({})).toEqual(['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
        expect(await find({ projectId: 'p1', type: 'even' })).toEqual(['r0', 'r2']);
        expect(await find({ sessionId: 's1' })).toEqual(['r1', 'r4']);
        expect(await find({ from: 10, to: 30 })).toEqual(['r1', 'r2', 'r3']);
        expect(await find({ requestId: 'r5' })).toEqual(['r5']);
        expect(await find({ from: 0, limit: 2 })).toEqual(['r4', 'r5']);
        expect(await find({ limit: 0 })).toEqual([]);
        const ids = (await store.query({})).map(({ id }) => id);
        const [first = 0, second = 0, , , fifth = 0] = ids;
        expect(await find({ afterId: second, beforeId: fifth })).toEqual(['r2', 'r3']);
        expect(await find({ beforeId: fifth, limit: 2 })).toEqual(['r2', 'r3']);
        expect(await find({ afterId: first, projectId: 'p1' })).toEqual(['r1', 'r2']);
        const scanned: (string | null)[] = [];
        for await (const event of store.scan({ afterId: second, type: 'odd' }))
          scanned.push(event.requestId);
        expect(scanned).toEqual(['r3', 'r5']);
        expect(await find({ type: 'none' })).toEqual([]);
      }));

    test('a scan has every event that matches, in order and however many, and ends', () =>
      withStore(async (store) => {
        const COUNT = 1_050;
        for (let index = 0; index < COUNT; index++) {
          store.record({
            type: 'step',
            projectId: index % 2 === 0 ? 'even' : 'odd',
            details: index,
          });
          if (index % 250 === 0) await store.flush();
        }
        await store.flush();
        const scan = async (
          filter: Parameters<TraceStore['scan']>[0],
          meanwhile?: () => Promise<void>,
        ): Promise<unknown[]> => {
          const found: unknown[] = [];
          for await (const event of store.scan(filter)) {
            found.push(event.details);
            if (found.length === 1) await meanwhile?.();
          }
          return found;
        };
        const all = Array.from({ length: COUNT }, (_, index) => index);
        expect(await scan({ projectId: 'even' })).toEqual(all.filter((index) => index % 2 === 0));
        expect(await scan({ type: 'step' })).toEqual(all);
        const late = async (): Promise<void> => {
          store.record({ type: 'late', projectId: 'odd', details: 'late' });
          await store.flush();
        };
        expect(await scan({ projectId: 'odd' }, late)).toEqual(all.filter((index) => index % 2));
        expect(await scan({ type: 'late' })).toEqual(['late']);
        expect(await scan({ projectId: 'none' })).toEqual([]);
        // Leaving early is not a failure.
        for await (const event of store.scan({})) {
          expect(event.details).toBe(0);
          break;
        }
      }));

    test('keeps any value in some JSON form', () =>
      withStore(async (store) => {
        const cyclic: Record<string, unknown> = { name: 'loop' };
        cyclic['self'] = cyclic;
        const values: readonly unknown[] = [
          undefined,
          () => 1,
          Symbol('s'),
          10n,
          NaN,
          -Infinity,
          new Date(Number.NaN),
          new Error('boom', { cause: new TypeError('inner') }),
          new Map([[{ a: 1 }, 2]]),
          new Set([1]),
          new Uint8Array(1000),
          cyclic,
          {
            get broken() {
              throw new Error('getter');
            },
          },
          {
            toJSON() {
              throw new Error('toJSON');
            },
          },
          new Proxy(
            {},
            {
              ownKeys() {
                throw new Error('proxy');
              },
              get() {
                throw new Error('proxy');
              },
            },
          ),
          nest(5000),
          '\u0000 \ud800',
          { '\u0000': 1 },
        ];
        for (const value of values) {
          const event = await stored(store, value);
          expect(JSON.parse(event.raw)).toEqual(event.details);
          expect(event.raw).not.toContain('\u0000');
        }
        expect(store.dropped()).toBe(0);
      }));

    test('never throws for generated values, and raw is the JSON of details', () =>
      withStore(async (store) => {
        await fastCheck.assert(
          fastCheck.asyncProperty(
            fastCheck.anything({
              withBigInt: true,
              withDate: true,
              withMap: true,
              withSet: true,
              withTypedArray: true,
              withNullPrototype: true,
              withSparseArray: true,
              withObjectString: true,
              withBoxedValues: true,
            }),
            async (value) => {
              const event = await stored(store, value);
              expect(JSON.parse(event.raw)).toEqual(event.details);
            },
          ),
          { numRuns: 200 },
        );
      }));

    test('takes what databases refuse, beside everything else, and raw is what was recorded', () =>
      withStore(async (store) => {
        const values: readonly (readonly [string, unknown])[] = [
          ['ordinary', { a: 1 }],
          ['U+0000', { text: 'a\u0000b', 'key\u0000': ['\u0000'] }],
          ['a lone high surrogate', { text: 'a\ud800' }],
          ['a lone low surrogate', ['\udc00b', { '\udfff': 1 }]],
          ['a whole pair', '\u{1f600}'],
          ['the letters of an escape', '\\u0000 \\ud800 \\\\u0000'],
          ['a large number', { n: 1e308, small: 5e-324, zero: -0 }],
          ['a number beyond all', { n: Number('1e200000'), text: '{"n":1e200000}' }],
          ['a deep list', nest(50_000)],
          ['a deep text', '['.repeat(10_000)],
          ['a text that is JSON', '{"a":[1'],
          ['an empty text', ''],
          ['a text', 'plain text'],
          ['a list', ['{', 1, null, [2], 'b"c\\']],
          ['an empty list', []],
          ['null', null],
          ['a number', 5],
          ['false', false],
          ['5 MB', 'x'.repeat(5_000_000)],
          ['5 MB of U+0000', '\u0000'.repeat(5_000_000)],
          ['a prototype', JSON.parse('{"__proto__":{"a":1}}')],
          ['quotes and arrays of Postgres', '{"a",NULL,\\}'],
          ['ordinary again', { b: 2 }],
        ];
        for (const [summary, value] of values) {
          store.record({
            type: 'torture',
            requestId: 'r',
            summary,
            details: value,
            error: value,
            metadata: value,
          });
        }
        await store.flush();
        const events = await store.getTrace('r');
        expect(events.map((event) => event.summary)).toEqual(values.map(([summary]) => summary));
        expect(store.dropped()).toBe(0);
        for (const [index, [, value]] of values.entries()) {
          const event = events[index];
          if (event === undefined) throw new Error('An event is missing');
          expect(JSON.parse(event.raw)).toEqual(event.details);
          if (event.truncated || value === null) continue;
          expect(event.raw).toBe(
            JSON.stringify(value, (_, inner: unknown) =>
              typeof inner === 'number' && !Number.isFinite(inner) ? String(inner) : inner,
            ),
          );
        }
        expect(events[1]).toMatchObject({
          error: { text: 'a\ufffdb', 'key\ufffd': ['\ufffd'] },
          metadata: { text: 'a\ufffdb' },
        });
        expect(events.at(-1)).toMatchObject({ error: { b: 2 }, metadata: { b: 2 } });
      }));

    test('an error that is a plain text (A8), and a metadata that is a list, come back as they are', () =>
      withStore(async (store) => {
        store.record({
          type: 'probe',
          requestId: 'probe',
          details: {
            big: 10n,
            e: new Error('x'),
            s: 'a\u0000\ud800',
            u: undefined,
            key: 'Bearer abc',
          },
          error: 'plain text',
          metadata: ['a', 1, { b: null }],
        });
        await store.flush();
        const [event] = await store.getTrace('probe');
        expect(event).toMatchObject({
          details: {
            big: '10n',
            e: { name: 'Error', message: 'x' },
            s: 'a\u0000\ud800',
            u: '[undefined]',
            key: '[REDACTED]',
          },
          error: 'plain text',
          metadata: ['a', 1, { b: null }],
        });
      }));

    test('a name with what no database holds is found by that name', () =>
      withStore(async (store) => {
        const requestId = `r\u0000\ud800${'x'.repeat(300)}`;
        store.record({ type: 'odd\u0000', requestId, phaseIndex: 1.5, timestamp: 12.75 });
        await store.flush();
        expect(await store.getTrace(requestId)).toMatchObject([
          { type: 'odd\ufffd', phaseIndex: null, timestamp: 12 },
        ]);
        expect(await store.query({ type: 'odd\u0000', from: 11.5, to: 12.5 })).toHaveLength(1);
        expect(await store.query({ from: Number.NEGATIVE_INFINITY, to: Infinity })).toHaveLength(1);
      }));

    test('many events keep their order and none is lost', () =>
      withStore(async (store) => {
        for (let index = 0; index < 1234; index++) {
          store.record({ type: 'step', requestId: 'many', cycleIndex: index });
        }
        await store.flush();
        const turn = await store.getTrace('many');
        expect(turn.map((event) => event.cycleIndex)).toEqual([...turn.keys()]);
        expect(turn).toHaveLength(1234);
        expect(store.dropped()).toBe(0);
      }));

    test('does not change what it is given', () =>
      withStore(async (store) => {
        const details = Object.freeze({ token: 'abcdefgh', list: Object.freeze([1]) });
        await stored(store, details);
        expect(details.token).toBe('abcdefgh');
      }));

    test('keeps no secret', () =>
      withStore(async (store) => {
        const secrets = ['sk-proj-abcdefgh12345678', 'hunter2hunter2', 'very-private-value'];
        const event = await stored(store, {
          headers: { Authorization: `Bearer ${secrets[1]}`, Cookie: secrets[2] },
          text: `key is ${secrets[0]}, url https://h/x?api_key=${secrets[1]}&a=1`,
          apiKey: secrets[2],
          pairs: [['x-api-key', secrets[2]]],
        });
        for (const secret of secrets) expect(JSON.stringify(event)).not.toContain(secret);
        expect(event.raw).toContain('[REDACTED]');
        expect(event.raw).toContain('a=1');
      }));

    test('bounds an event and says so', () =>
      withStore(async (store) => {
        const many = Array.from({ length: 5000 }, (_, index) => `${index} ${'x'.repeat(100)}`);
        for (const value of ['ä'.repeat(1_000_000), many, { a: { b: many } }]) {
          const event = await stored(store, value);
          expect(event.truncated).toBe(true);
          expect(JSON.stringify(event).length).toBeLessThan(140_000);
          expect(new TextEncoder().encode(event.raw).length).toBeLessThanOrEqual(65_536);
        }
      }));

    test('bounds the names', () =>
      withStore(async (store) => {
        store.record({ type: 't'.repeat(300), toolName: 'n'.repeat(300), requestId: 'probe' });
        await store.flush();
        const [event] = await store.getTrace('probe');
        expect(event?.type.length).toBe(50);
        expect(event?.toolName?.length).toBe(255);
      }));
  });
}

function nest(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

// The events of a turn arrive once and in order, over however many connections, and never silently less.
import type { Clock, TurnStreamEvent } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { createOrionClient } from './client.ts';
import type { OrionClient } from './client.ts';
import { hurriedClock } from './testing/hurried-clock.ts';
import {
  broken,
  failure,
  foreign,
  json,
  nothing,
  startScriptedServer,
  stream,
} from './testing/scripted-server.ts';
import type { Step } from './testing/scripted-server.ts';
import type { TurnEventsOptions } from './turn-events.ts';

const event = (seq: number, type = 'chunk') => ({ type, seq });
const hurried = hurriedClock();

async function reading(steps: readonly Step[], options: TurnEventsOptions = {}) {
  const server = await startScriptedServer(steps);
  const client = createOrionClient({ url: server.url, token: 'secret', clock: hurried });
  return { server, events: client.turns.events('a/b', options) };
}

async function all(events: AsyncIterable<TurnStreamEvent>): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for await (const each of events) seen.push('seq' in each ? each.seq : each.type);
  return seen;
}

describe('the events of a turn', () => {
  it('are read with the token, and from the place that is named', async () => {
    const { server, events } = await reading([stream([event(8), event(9, 'done')], 'open')], {
      after: '7.x',
    });
    expect(await all(events)).toEqual([8, 9]);
    expect(events.lastEventId).toBe('9.a');
    expect(server.asked[0]).toMatchObject({
      method: 'GET',
      url: '/api/turns/a%2Fb/events',
      headers: {
        authorization: 'Bearer secret',
        accept: 'text/event-stream',
        'last-event-id': '7.x',
      },
    });
  });

  it('go on where the connection broke, be it in the middle of a frame or before an answer', async () => {
    const { server, events } = await reading([
      stream([event(1), event(2)], 'cut'),
      broken,
      stream([], 'end'),
      failure(503, 'SERVER_STOPPING'),
      foreign(530),
      stream([event(3), event(4, 'done')], 'cut'),
    ]);
    expect(await all(events)).toEqual([1, 2, 3, 4]);
    expect(server.asked.map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      '2.a',
      '2.a',
      '2.a',
      '2.a',
      '2.a',
    ]);
  });

  it('begin again after a reset, also when the connection breaks right behind it', async () => {
    const { server, events } = await reading(
      [stream([{ type: 'reset', toSeq: 0 }], 'cut'), stream([event(1), event(2, 'done')])],
      { after: '5.b' },
    );
    expect(await all(events)).toEqual(['reset', 1, 2]);
    expect(server.asked[1]?.headers['last-event-id']).toBeUndefined();
  });

  it('end where the server has nothing more', async () => {
    expect(await all((await reading([stream([event(1)]), nothing])).events)).toEqual([1]);
  });

  it('are given up after some connections without any', async () => {
    const { server, events } = await reading([stream([event(1)]), stream([])], { attempts: 4 });
    await expect(all(events)).rejects.toMatchObject({ code: 'UNREACHABLE', status: 0 });
    // Four in a row, counted from the one that brought an event.
    expect(server.asked).toHaveLength(4);
  });

  it.each<[string, Step, Readonly<Record<string, unknown>>]>([
    ['an unknown turn', failure(404, 'TURN_NOT_FOUND'), { code: 'TURN_NOT_FOUND', status: 404 }],
    [
      'a wrong token',
      failure(401, 'UNAUTHORIZED'),
      { code: 'UNAUTHORIZED', hint: 'Do something.' },
    ],
    ['a page of a proxy', foreign(200), { code: 'UNEXPECTED_ANSWER', status: 200 }],
    ['a page that a proxy does not have', foreign(404), { code: 'UNEXPECTED_ANSWER', status: 404 }],
    ['a defect of the server', failure(500, 'INTERNAL'), { code: 'INTERNAL', status: 500 }],
    ['JSON', json(200, {}), { code: 'UNEXPECTED_ANSWER', status: 200 }],
  ])('are not asked for again after %s', async (_name, step, expected) => {
    const { server, events } = await reading([step]);
    await expect(all(events)).rejects.toMatchObject(expected);
    expect(server.asked).toHaveLength(1);
  });

  it('end with the reason of an abort, and so does a pause', async () => {
    for (const step of [stream([event(1)], 'open'), stream([event(1)], 'end')]) {
      const server = await startScriptedServer([step, broken]);
      const controller = new AbortController();
      const client = createOrionClient({ url: server.url, token: 't', clock: createFakeClock() });
      const seen = all(client.turns.events('t', { signal: controller.signal }));
      const failed = expect(seen).rejects.toBe('enough');
      await expect.poll(() => server.asked.length).toBe(1);
      await new Promise((resolve) => setTimeout(resolve, 20));
      controller.abort('enough');
      await failed;
    }
  });

  it.each<[string, Step, boolean]>([
    ['a comment', stream([], 'end', ':\n\n'), true],
    ['nothing', stream([], 'end'), false],
    ['no answer', broken, false],
  ])('say whether the connection was alive: %s', async (_name, step, expected) => {
    let isAlive = false;
    const onAlive = (): void => void (isAlive = true);
    const { events } = await reading([step], { onAlive, attempts: 1 });
    await expect(all(events)).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(isAlive).toBe(expected);
  });

  it('leave no connection open when their reader leaves', async () => {
    let isClosed = false;
    const { events } = await reading([
      (response) => {
        response.once('close', () => {
          isClosed = true;
        });
        stream([event(1), event(2)], 'open')(response);
      },
    ]);
    for await (const _ of events) break;
    await expect.poll(() => isClosed).toBe(true);
    expect(events.lastEventId).toBe('1.a');
  });

  it('are asked for again when nothing has come for 15 s', async () => {
    const clock = createFakeClock();
    const server = await startScriptedServer([
      stream([event(1)], 'open'),
      stream([event(2, 'done')]),
    ]);
    const seen = all(createOrionClient({ url: server.url, token: 't', clock }).turns.events('t'));
    await expect.poll(() => server.asked.length).toBe(1);
    await expect
      .poll(async () => {
        await clock.advance(5_000);
        return server.asked.length;
      })
      .toBe(2);
    expect(await seen).toEqual([1, 2]);
    expect(clock.pending()).toBe(0);
  });

  it('are asked for as soon as a server that stops wants it', async () => {
    const pauses: number[] = [];
    const clock: Clock = {
      ...hurried,
      schedule(milliseconds, callback) {
        if (milliseconds < 15_000) pauses.push(milliseconds);
        return hurried.schedule(milliseconds, callback);
      },
    };
    const server = await startScriptedServer([
      stream([event(1)], 'end', 'retry: 100\n\n'),
      failure(429, 'RATE_LIMITED', { 'retry-after': '3' }),
      stream([event(2, 'done')]),
    ]);
    const client: OrionClient = createOrionClient({ url: server.url, token: 't', clock });
    expect(await all(client.turns.events('t'))).toEqual([1, 2]);
    expect(pauses[0]).toBeGreaterThanOrEqual(50);
    expect(pauses[0]).toBeLessThanOrEqual(100);
    expect(pauses[1]).toBeGreaterThanOrEqual(3_100);
    expect(pauses[1]).toBeLessThanOrEqual(3_200);
  });
});

describe('a connection', () => {
  const told = (...events: readonly object[]): Uint8Array =>
    Buffer.from(events.map((each) => `data: ${JSON.stringify(each)}\n\n`).join(''));

  it.each([1, 7, 1000])('may bring the events in pieces of %i bytes', async (size) => {
    const events = [
      { type: 'chunk', seq: 1, content: 'né 🦊' },
      { type: 'chunk', seq: 2, content: 'é' },
      { type: 'done', seq: 3 },
    ];
    const bytes = told(...events);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    const answer = new Response(ReadableStream.from(pieces), {
      headers: { 'content-type': 'text/event-stream' },
    });
    const client = createOrionClient({
      url: 'http://server',
      token: 'secret',
      fetch: () => Promise.resolve(answer),
    });
    const seen: unknown[] = [];
    for await (const each of client.turns.events('t')) seen.push(each);
    expect(seen).toEqual(events);
  });

  it('that is never answered is taken to be lost', async () => {
    const clock = createFakeClock();
    const client = createOrionClient({
      url: 'http://server',
      token: 'secret',
      clock,
      fetch: (_, init) =>
        new Promise((__, reject) => {
          init?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
        }),
    });
    const reader = all(client.turns.events('t', { attempts: 1 }));
    const lost = expect(reader).rejects.toMatchObject({ code: 'UNREACHABLE' });
    await clock.advance(15_000);
    await lost;
    expect(clock.pending()).toBe(0);
  });
});

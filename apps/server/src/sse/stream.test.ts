// Every event of a turn reaches a reader once and in order, wherever its connection breaks (R288).
import { formatEventId } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { numbersOf, openStream } from '../testing/read-stream.ts';
import { askServer, codeOf } from '../testing/test-server.ts';
import { done, startTurnServer, text } from '../testing/turn-server.ts';

const path = (turnId: string): string => `/api/turns/${turnId}/events`;

describe('the events of a turn', () => {
  it('come as they are stored, each with its place, and end with done', async () => {
    const { port, begin } = await startTurnServer();
    const turn = await begin('t');
    const first = await turn.write({ type: 'phase', phase: 'action', index: 0 }, text('one'));
    const stream = await openStream(port, path('t'));
    expect(stream.status).toBe(200);
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      location: '/base/api/turns/t',
    });
    await stream.reached(2);
    const rest = await turn.write(text('two'), done('onetwo'));
    await stream.ended;
    const messages = stream.messages;
    expect(messages.map(({ data }) => JSON.parse(data))).toEqual([...first, ...rest]);
    expect(messages.map(({ event }) => event)).toEqual(['phase', 'chunk', 'chunk', 'done']);
    expect(new Set(messages.map(({ id }) => id?.replace(/^\d+/u, 'n'))).size).toBe(1);
    expect(messages[0]?.id).toMatch(/^1\.[0-9a-z]+$/u);
  });

  it('are each seen once by a reader that connects again after every event', async () => {
    const { port, begin } = await startTurnServer();
    const turn = await begin('t');
    const seen: number[] = [];
    let id: string | undefined;
    for (let count = 1; count <= 12; count += 1) {
      await turn.write(count === 12 ? done() : text(`${count}`));
      const headers = id === undefined ? {} : { 'last-event-id': id };
      const stream = await openStream(port, path('t'), { headers });
      const [message] = await stream.reached(1);
      stream.close();
      id = message?.id;
      seen.push(...numbersOf(stream.messages));
    }
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    const last = await openStream(port, path('t'), { headers: { 'last-event-id': id ?? '' } });
    expect(last.status).toBe(204);
  });

  it('of a turn that is over are read from any place on', async () => {
    const { port, begin } = await startTurnServer();
    await (await begin('t')).write(text('1'), text('2'), text('3'), done());
    for (const [query, headers, numbers] of [
      ['', {}, [1, 2, 3, 4]],
      ['?after=2', {}, [3, 4]],
      ['?after=0', {}, [1, 2, 3, 4]],
      // What a browser adds when it connects again is newer than the address.
      ['?after=1', { 'last-event-id': '3' }, [4]],
      ['?after=3', { 'last-event-id': '' }, [4]],
    ] as const) {
      const stream = await openStream(port, path('t') + query, { headers });
      await stream.ended;
      expect([query, numbersOf(stream.messages)]).toEqual([query, numbers]);
    }
    expect((await openStream(port, `${path('t')}?after=4`)).status).toBe(204);
  });

  it.each(['x', '1.', '-1', '1.2.3', '1e3', '99999999999999999'])(
    'are not read from %j',
    async (after) => {
      const { port, begin } = await startTurnServer();
      await begin('t');
      const answer = await askServer(port, `${path('t')}?after=${after}`);
      expect([answer.status, codeOf(answer.json)]).toEqual([400, 'REQUEST_INVALID']);
      const headers = { 'last-event-id': after };
      expect((await askServer(port, path('t'), { headers })).status).toBe(400);
    },
  );

  it('of an unknown turn are not found', async () => {
    const { port } = await startTurnServer();
    const answer = await askServer(port, path('none'));
    expect([answer.status, codeOf(answer.json)]).toEqual([404, 'TURN_NOT_FOUND']);
  });

  it('are announced by a HEAD, which does not wait for them', async () => {
    const { port, begin, streams } = await startTurnServer();
    await begin('t');
    const answer = await askServer(port, path('t'), { method: 'HEAD' });
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(streams.open).toBe(0);
  });
});

describe('a reader whose place is not in the log any more', () => {
  it('is told to forget what it has, and gets everything', async () => {
    const { port, begin } = await startTurnServer();
    await (await begin('t')).write(text('1'), text('2'), done());
    for (const place of [formatEventId({ seq: 2, epoch: 5 }), '17', '3.1']) {
      const stream = await openStream(port, path('t'), { headers: { 'last-event-id': place } });
      await stream.ended;
      const [reset, ...rest] = stream.messages;
      expect(reset).toEqual({ event: 'reset', data: '{"type":"reset","toSeq":0}' });
      expect(numbersOf(rest)).toEqual([1, 2, 3]);
    }
  });

  it('because its events were folded gets what was kept, and is not asked to come again', async () => {
    const { port, begin, orion } = await startTurnServer();
    const turn = await begin('t');
    await turn.write(text('1'), text('2'), done());
    const fold = orion.store.turnLog as unknown as {
      foldOldTurns(idleMs: number): Promise<number>;
    };
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await fold.foldOldTurns(0)).toBe(1);
    const stream = await openStream(port, path('t'), { headers: { 'last-event-id': '1' } });
    await stream.ended;
    expect(stream.messages.map(({ event }) => event)).toEqual(['reset', 'done']);
    const id = stream.messages[1]?.id ?? '';
    const again = await openStream(port, path('t'), { headers: { 'last-event-id': id } });
    expect(again.status).toBe(204);
    const polled = await askServer(port, `${path('t')}?after=1`, {
      headers: { accept: 'application/json' },
    });
    expect(polled.json).toMatchObject({
      events: [{ type: 'reset' }, { seq: 3 }],
      next: id,
      done: true,
    });
  });
});

describe('a stream', () => {
  it('has a comment every five seconds', async () => {
    const clock = createFakeClock();
    const { port, begin } = await startTurnServer({ clock });
    const turn = await begin('t');
    const stream = await openStream(port, path('t'));
    const comments = (): number => stream.raw().split(':\n\n').length - 1;
    await clock.advance(4_999);
    await clock.advance(1);
    await expect.poll(comments).toBe(1);
    await turn.write(text('between'));
    await stream.reached(1);
    await clock.advance(5_000);
    await expect.poll(comments).toBe(2);
    await turn.write(done());
    await stream.ended;
    expect(clock.pending()).toBe(0);
  });

  it('that ends with the process asks its reader to come back soon, and loses nothing', async () => {
    const { port, begin, streams } = await startTurnServer();
    const turn = await begin('t');
    await turn.write(text('1'));
    const stream = await openStream(port, path('t'));
    await stream.reached(1);
    streams.end();
    await stream.ended;
    await streams.settled();
    expect([stream.retries, streams.open]).toEqual([[100], 0]);
    await turn.write(done());
    const headers = { 'last-event-id': stream.messages[0]?.id ?? '' };
    const again = await openStream(port, path('t'), { headers });
    await again.ended;
    expect(numbersOf(again.messages)).toEqual([2]);
  });

  it('whose reader goes away leaves nothing behind, and the turn goes on', async () => {
    const clock = createFakeClock();
    const { port, begin, streams, failures } = await startTurnServer({ clock });
    const turn = await begin('t');
    const stream = await openStream(port, path('t'));
    await turn.write(text('1'));
    await stream.reached(1);
    expect(streams.open).toBe(1);
    stream.close();
    await expect.poll(() => streams.open).toBe(0);
    await streams.settled();
    expect([clock.pending(), failures]).toEqual([0, []]);
    await turn.write(done());
  });

  it('is one of few that a client may have open', async () => {
    const { port, begin, streams } = await startTurnServer({ perClient: 2 });
    const turn = await begin('t');
    const [first] = [await openStream(port, path('t')), await openStream(port, path('t'))];
    const refused = await askServer(port, path('t'));
    expect([refused.status, codeOf(refused.json), refused.headers['retry-after']]).toEqual([
      429,
      'RATE_LIMITED',
      '1',
    ]);
    const polled = await askServer(port, path('t'), { headers: { accept: 'application/json' } });
    expect(polled.status).toBe(429);
    first?.close();
    await expect.poll(() => streams.open).toBe(1);
    const next = await openStream(port, path('t'));
    expect(next.status).toBe(200);
    await turn.write(done());
    await next.ended;
    await streams.settled();
    const free = async (): Promise<number> =>
      (await openStream(port, `${path('t')}?after=0`)).status;
    expect([await free(), await free()]).toEqual([200, 200]);
  });
});

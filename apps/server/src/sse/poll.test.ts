// A client without streams reads the same events by asking for them.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import type { TurnEventsAnswer } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { describe, expect, it } from 'vitest';

import { askServer, codeOf } from '../testing/test-server.ts';
import { done, startTurnServer, text } from '../testing/turn-server.ts';
import type { TurnServer } from '../testing/turn-server.ts';

const headers = { accept: 'application/json' };

async function poll({ port }: TurnServer, query = ''): Promise<TurnEventsAnswer> {
  const { json, status } = await askServer(port, `/api/turns/t/events${query}`, { headers });
  expect(status).toBe(200);
  return json as TurnEventsAnswer;
}

const numbers = ({ events }: TurnEventsAnswer): readonly number[] =>
  events.map((event) => ('seq' in event ? event.seq : 0));

describe('a poll', () => {
  it('has what is there, and says where to go on', async () => {
    const server = await startTurnServer();
    const turn = await server.begin('t');
    const written = await turn.write(text('1'), text('2'));
    const first = await poll(server);
    expect(first).toEqual({ events: written, next: expect.stringMatching(/^2\./u), done: false });
    await turn.write(text('3'), done());
    const rest = await poll(server, `?after=${first.next}&wait=5`);
    expect([numbers(rest), rest.done]).toEqual([[3, 4], true]);
    expect(await poll(server, `?after=${rest.next}&wait=25`)).toEqual({
      events: [],
      next: rest.next,
      done: true,
    });
  });

  it('waits as long as it may, and no longer', async () => {
    const clock = createFakeClock();
    const server = await startTurnServer({ clock });
    const turn = await server.begin('t');
    expect(await poll(server)).toEqual({ events: [], next: '0', done: false });
    const waiting = poll(server, '?wait=25');
    await expect.poll(() => clock.pending()).toBeGreaterThan(0);
    await clock.advance(24_999);
    const early = await Promise.race([waiting, Promise.resolve('waits')]);
    expect(early).toBe('waits');
    await clock.advance(1);
    expect(await waiting).toEqual({ events: [], next: '0', done: false });
    const woken = poll(server, '?wait=25');
    await expect.poll(() => clock.pending()).toBeGreaterThan(0);
    await turn.write(text('1'));
    expect(numbers(await woken)).toEqual([1]);
    await expect.poll(() => clock.pending()).toBe(0);
  });

  it('that its client gives up waits no more', async () => {
    const clock = createFakeClock();
    const { port, begin, orion } = await startTurnServer({ clock, perClient: 1 });
    await begin('t');
    const controller = new AbortController();
    const asked = fetch(`http://127.0.0.1:${port}/api/turns/t/events?wait=25`, {
      headers,
      signal: controller.signal,
    });
    await expect.poll(() => clock.pending()).toBeGreaterThan(0);
    controller.abort();
    await expect(asked).rejects.toThrow(/abort/u);
    await expect.poll(() => clock.pending()).toBe(0);
    await orion.close();
  });

  it('does not hold up a server that stops', async () => {
    const clock = createFakeClock();
    const server = await startTurnServer({ clock });
    await server.begin('t');
    const waiting = poll(server, '?wait=25');
    await expect.poll(() => clock.pending()).toBeGreaterThan(0);
    // The time stands still.
    server.streams.end();
    expect(await waiting).toEqual({ events: [], next: '0', done: false });
    // And one that comes only now.
    expect(await poll(server, '?wait=25')).toEqual({ events: [], next: '0', done: false });
  });

  it('does not wait for a client that has gone before', async () => {
    const { streams } = await startTurnServer();
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    response.destroy();
    expect(streams.wait(response).aborted).toBe(true);
  });

  it.each(['26', '-1', '1.5', 'x'])('does not wait %s seconds', async (wait) => {
    const { port, begin } = await startTurnServer();
    await begin('t');
    const { status, json } = await askServer(port, `/api/turns/t/events?wait=${wait}`, { headers });
    expect([status, codeOf(json)]).toEqual([400, 'REQUEST_INVALID']);
  });

  it('has a bounded number of events, and all of them in the end', async () => {
    const server = await startTurnServer();
    const turn = await server.begin('t');
    for (let round = 0; round < 6; round += 1) {
      await turn.write(...Array.from({ length: 100 }, (_, index) => text(`${index}`)));
    }
    await turn.write(...Array.from({ length: 10 }, () => text('x'.repeat(100_000))), done());
    const seen: number[] = [];
    const counts: number[] = [];
    for (let after = '', isDone = false; !isDone;) {
      const answer = await poll(server, after);
      seen.push(...numbers(answer));
      counts.push(answer.events.length);
      after = `?after=${answer.next}`;
      isDone = answer.done;
    }
    expect(seen).toEqual(Array.from({ length: 611 }, (_, index) => index + 1));
    expect(Math.max(...counts)).toBeLessThanOrEqual(500);
    expect(counts.length).toBeGreaterThanOrEqual(3);
  });

  it('begins with a reset where its place is not in the log', async () => {
    const server = await startTurnServer();
    await (await server.begin('t')).write(text('1'), text('2'));
    const { events, next } = await poll(server, '?after=2.zz');
    expect(events.map(({ type }) => type)).toEqual(['reset', 'chunk', 'chunk']);
    expect(next).toMatch(/^2\./u);
  });
});

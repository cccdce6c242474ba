// Calls are sent again only where that changes nothing, and every failure is one kind of error.
import { describe, expect, it } from 'vitest';

import { createOrionClient } from './client.ts';
import { OrionClientError } from './client-error.ts';
import { pauseBefore } from './pause.ts';
import { hurriedClock } from './testing/hurried-clock.ts';
import { broken, failure, json, startScriptedServer } from './testing/scripted-server.ts';
import type { Step } from './testing/scripted-server.ts';

const hurried = hurriedClock();

async function clientOf(steps: readonly Step[], path = '') {
  const server = await startScriptedServer(steps);
  const url = `${server.url}${path}`;
  return { server, client: createOrionClient({ url, token: 'secret', clock: hurried }) };
}

describe('a message', () => {
  it('whose answer is lost is sent again under the same name', async () => {
    const answer = { turnId: 't', requestId: 't' };
    const { server, client } = await clientOf([
      broken,
      failure(503, 'STORE_UNAVAILABLE'),
      json(202, answer),
    ]);
    expect(await client.messages.send({ content: 'hello' })).toEqual(answer);
    expect(server.asked).toHaveLength(3);
    const [first] = server.asked;
    expect(first).toMatchObject({
      method: 'POST',
      url: '/api/chat/messages',
      body: '{"content":"hello"}',
      headers: { 'content-type': 'application/json', authorization: 'Bearer secret' },
    });
    const keys = server.asked.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/u);
    expect(new Set(keys).size).toBe(1);
  });

  it('has a name of its own each time, or the one that is given', async () => {
    const { server, client } = await clientOf([json(202, {})], '/base/');
    await client.messages.send({ content: 'a' });
    await client.messages.send({ content: 'a' }, { twoStage: true });
    await client.messages.send({ content: 'a' }, { idempotencyKey: 'mine' });
    const keys = server.asked.map(({ headers }) => headers['idempotency-key']);
    expect([new Set(keys).size, keys[2]]).toEqual([3, 'mine']);
    expect(server.asked[1]?.url).toBe('/base/api/chat/messages_two_stage');
  });

  it('that is refused is not sent again', async () => {
    const { server, client } = await clientOf([failure(409, 'CONVERSATION_BUSY')]);
    const error = await client.messages.send({ content: 'a' }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(OrionClientError);
    expect(error).toMatchObject({
      code: 'CONVERSATION_BUSY',
      status: 409,
      message: 'It is CONVERSATION_BUSY.',
      hint: 'Do something.',
    });
    expect(server.asked).toHaveLength(1);
  });

  it('is given up after four attempts', async () => {
    const { server, client } = await clientOf([broken]);
    await expect(client.messages.send({ content: 'a' })).rejects.toMatchObject({
      code: 'UNREACHABLE',
      status: 0,
    });
    expect(server.asked).toHaveLength(4);
  });
});

describe('calls', () => {
  it('name what they read in the address', async () => {
    const { server, client } = await clientOf([json(200, {})]);
    await client.turns.get('a b');
    await client.turns.list({ state: 'running', limit: 3 });
    await client.turns.poll('t', { after: '3.a', wait: 5 });
    await client.turns.cancel('t');
    await client.conversations.list({ projectId: 'p&q' });
    await client.conversations.get('c/d', { before: 0 });
    await client.health.live();
    expect(server.asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /api/turns/a%20b',
      'GET /api/turns?state=running&limit=3',
      'GET /api/turns/t/events?after=3.a&wait=5',
      'POST /api/turns/t/cancel',
      'GET /api/conversations?projectId=p%26q',
      'GET /api/conversations/c%2Fd?before=0',
      'GET /health/live',
    ]);
  });

  it('are ended by an abort with its reason', async () => {
    const { client } = await clientOf([() => undefined]);
    const controller = new AbortController();
    const asked = client.turns.get('t', { signal: controller.signal });
    setTimeout(() => controller.abort('enough'), 10);
    await expect(asked).rejects.toBe('enough');
    await expect(client.turns.get('t', { signal: controller.signal })).rejects.toBe('enough');
  });

  it('do not follow the server elsewhere with the token', async () => {
    const other = await startScriptedServer([json(200, {})]);
    const { client } = await clientOf([
      (response) => {
        response.writeHead(307, { location: `${other.url}/api/turns/t` });
        response.end();
      },
    ]);
    await expect(client.turns.get('t')).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(other.asked).toHaveLength(0);
  });

  it.each<[string, Step]>([
    ['a page', (response) => response.writeHead(200).end('<html>')],
    ['a page that is an error', (response) => response.writeHead(500).end('<html>')],
    ['other JSON', json(500, { error: 'no' })],
  ])('that are answered with %s say so', async (_name, step) => {
    const { client } = await clientOf([step]);
    await expect(client.turns.get('t')).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER' });
  });
});

it('pauses grow, are bounded, and differ by chance', () => {
  const longest = [1, 2, 3, 20].map((attempt) => pauseBefore(attempt, { random: () => 0 }));
  expect(longest).toEqual([250, 500, 1_000, 10_000]);
  expect(pauseBefore(1, { random: () => 1 })).toBe(125);
  expect(pauseBefore(1, { leastMs: 2_000, random: () => 0 })).toBe(2_250);
});

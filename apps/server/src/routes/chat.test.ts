// A message is stored as a turn and nothing else: what runs it is not the request.
import { describe, expect, it } from 'vitest';

import { numbersOf, openStream } from '../testing/read-stream.ts';
import { askServer, codeOf } from '../testing/test-server.ts';
import { done, startTurnServer, text } from '../testing/turn-server.ts';

const MESSAGES = '/api/chat/messages';
const JSON_ONLY = { accept: 'application/json' };

describe('a message', () => {
  it('is answered with the events of its turn', async () => {
    const server = await startTurnServer();
    const turn = await server.begin('turn-1');
    const stream = await openStream(server.port, MESSAGES, { json: { content: 'hello' } });
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream',
      location: '/base/api/turns/turn-1',
    });
    expect(server.submitted).toEqual([
      {
        projectId: server.orion.projectId,
        content: 'hello',
        mode: 'act',
        conversationId: null,
        protocol: null,
        metadata: {},
        key: null,
      },
    ]);
    await turn.write(text('hi'), done('hi'));
    await stream.ended;
    expect(numbersOf(stream.messages)).toEqual([1, 2]);
  });

  it('is answered with the id of its turn for a client that takes JSON', async () => {
    const { port, submitted } = await startTurnServer();
    const sent = {
      content: 'hello',
      projectId: 'p',
      mode: 'plan',
      conversationId: 'c',
      metadata: { a: [1, { b: null }] },
    };
    const answer = await askServer(port, MESSAGES, { json: sent, headers: JSON_ONLY });
    expect(answer).toMatchObject({
      status: 202,
      json: { turnId: 'turn-1', requestId: 'turn-1' },
      headers: { location: '/base/api/turns/turn-1' },
    });
    expect(submitted[0]).toEqual({ ...sent, protocol: null, key: null });
  });

  it('pins the two-stage protocol on the route of that name (R179)', async () => {
    const { port, submitted } = await startTurnServer();
    const json = { content: 'hello', metadata: { protocol: 'standard' } };
    await askServer(port, `${MESSAGES}_two_stage`, { json, headers: JSON_ONLY });
    expect(submitted[0]).toMatchObject({ protocol: 'two-stage', metadata: json.metadata });
  });

  it.each<[string, unknown]>([
    ['no content', {}],
    ['blank content', { content: ' \n' }],
    ['content that is not text', { content: 1 }],
    ['another mode', { content: 'x', mode: 'yolo' }],
    ['a field of another time', { content: 'x', protocol: 'standard' }],
    ['metadata that is a list', { content: 'x', metadata: [] }],
    ['metadata that is too large', { content: 'x', metadata: { a: 'x'.repeat(17_000) } }],
    ['an empty conversation', { content: 'x', conversationId: '' }],
  ])('with %s is refused', async (_name, json) => {
    const { port, submitted } = await startTurnServer();
    const answer = await askServer(port, MESSAGES, { json, headers: JSON_ONLY });
    expect([answer.status, codeOf(answer.json)]).toEqual([400, 'REQUEST_INVALID']);
    expect(submitted).toEqual([]);
  });

  it('with metadata of a great many elements is refused before they are looked at', async () => {
    const { port, submitted } = await startTurnServer();
    const before = process.cpuUsage();
    for (const element of ['1e999', '{}']) {
      const list = Array.from({ length: 200_000 }, () => element).join();
      const body = `{"content":"x","metadata":{"a":[${list}]}}`;
      const headers = { ...JSON_ONLY, 'content-type': 'application/json' };
      const { status, text: answer } = await askServer(port, MESSAGES, { body, headers });
      expect([status, answer]).toEqual([400, expect.stringContaining('expected at most 16384')]);
    }
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
    expect(submitted).toEqual([]);
  });

  it('with a number of its metadata that JSON cannot hold again is refused', async () => {
    const { port, submitted } = await startTurnServer();
    const body = '{"content":"x","metadata":{"a":[1e999]}}';
    const headers = { ...JSON_ONLY, 'content-type': 'application/json' };
    const answer = await askServer(port, MESSAGES, { body, headers });
    expect([answer.status, codeOf(answer.json)]).toEqual([400, 'REQUEST_INVALID']);
    expect(submitted).toEqual([]);
  });

  it('is told apart by its key, its route and its content, however that is written', async () => {
    const { port, submitted } = await startTurnServer();
    const keyOf = async (json: unknown, path = MESSAGES) => {
      const headers = { ...JSON_ONLY, 'idempotency-key': 'k-1' };
      expect((await askServer(port, path, { json, headers })).status).toBe(202);
      const key = submitted.at(-1)?.key;
      return `${key?.key} ${key?.route} ${key?.bodySha256}`;
    };
    const first = await keyOf({ content: 'x', mode: 'act' });
    expect(first).toMatch(/^k-1 POST \/api\/chat\/messages [\da-f]{64}$/u);
    expect(await keyOf({ mode: 'act', content: 'x' })).toBe(first);
    expect(await keyOf({ content: 'y', mode: 'act' })).not.toBe(first);
    expect(await keyOf({ content: 'x', mode: 'act' }, `${MESSAGES}_two_stage`)).not.toBe(first);
  });

  it('with a key of its body twice means the last one, as JSON.parse reads it', async () => {
    const { port, submitted } = await startTurnServer();
    const body = '{"content":"x","mode":"act","content":"y"}';
    const headers = { ...JSON_ONLY, 'content-type': 'application/json', 'idempotency-key': 'k' };
    expect((await askServer(port, MESSAGES, { body, headers })).status).toBe(202);
    await askServer(port, MESSAGES, { json: { mode: 'act', content: 'y' }, headers });
    expect(submitted.map(({ content }) => content)).toEqual(['y', 'y']);
    expect(submitted[0]?.key).toEqual(submitted[1]?.key);
  });

  it.each(['', 'a b', 'é', 'x'.repeat(256)])('with the key %j is refused', async (key) => {
    const { port, submitted } = await startTurnServer();
    const headers = { ...JSON_ONLY, 'idempotency-key': Buffer.from(key).toString('latin1') };
    const answer = await askServer(port, MESSAGES, { json: { content: 'x' }, headers });
    expect([answer.status, submitted.length]).toEqual([400, 0]);
    const longest = { ...headers, 'idempotency-key': 'x'.repeat(255) };
    const taken = await askServer(port, MESSAGES, { json: { content: 'x' }, headers: longest });
    expect(taken.status).toBe(202);
  });

  it('that cannot be streamed, because its client has too many streams, begins no turn', async () => {
    const server = await startTurnServer({ perClient: 1 });
    await openStream(server.port, MESSAGES, { json: { content: 'first' } });
    const refused = await askServer(server.port, MESSAGES, { json: { content: 'second' } });
    expect([refused.status, server.submitted.length]).toEqual([429, 1]);
    const polled = { json: { content: 'second' }, headers: JSON_ONLY };
    expect((await askServer(server.port, MESSAGES, polled)).status).toBe(202);
  });
});

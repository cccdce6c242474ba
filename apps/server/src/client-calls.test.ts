// Our client and the whole server: every route is called as a program calls it.
import { readFile } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { createOrionClient } from '@orion/client';
import type { TurnStreamEvent } from '@orion/contracts';
import { createFakeAdapter, textReply } from '@orion/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';

import type { ServerOptions } from './configuration.ts';
import { startTestServer, TOKEN } from './testing/test-server.ts';

async function start(options: Partial<ServerOptions> = {}) {
  const adapter = createFakeAdapter([textReply('Hello.')]);
  const started = await startTestServer(options, { adapter });
  const client = createOrionClient({ url: started.server.url, token: TOKEN });
  return { ...started, client };
}

/** Lets so many bytes of each connection through and then breaks it; those behind the list are whole. */
async function cuttingProxy(cuts: readonly number[]) {
  const left = [...cuts];
  let target = 0;
  const proxy = createServer((socket) => {
    const upstream = connect({ port: target, host: '127.0.0.1' });
    let room = left.shift() ?? Number.POSITIVE_INFINITY;
    socket.on('data', (data) => {
      upstream.write(data.subarray(0, Math.max(0, room)));
      room -= data.length;
      if (room <= 0) setTimeout(() => socket.destroy(), 5);
    });
    upstream.pipe(socket);
    for (const each of [socket, upstream]) each.on('error', () => undefined);
    socket.on('close', () => upstream.destroy());
    upstream.on('close', () => socket.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen({ port: 0, host: '127.0.0.1' }, resolve));
  onTestFinished(() => void proxy.close());
  const { port } = proxy.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    leadTo: (to: number) => {
      target = to;
    },
    left,
  };
}

describe('a message over HTTP', () => {
  it('is answered by a turn, whose events and records are read', async () => {
    const { client } = await start();
    const { turnId } = await client.messages.send({ content: 'Say hello' });
    const events: TurnStreamEvent[] = [];
    for await (const event of client.turns.events(turnId)) events.push(event);
    const seqs = events.map((event) => ('seq' in event ? event.seq : 0));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(events.at(-1)).toMatchObject({
      type: 'done',
      requestId: turnId,
      fullContent: 'Hello.',
      protocol: 'standard',
      phase: 'complete',
    });
    for (const event of events) {
      expect(event).toMatchObject({ requestId: turnId, protocol: 'standard', cycleIndex: 0 });
      expect(event).toHaveProperty('phaseIndex');
    }
    const turn = await client.turns.get(turnId);
    expect(turn).toMatchObject({ state: 'done', status: 'complete' });
    const { conversations } = await client.conversations.list();
    expect(conversations.map((each) => each.conversationId)).toEqual([turn.conversationId]);
    const { history } = await client.conversations.get(turn.conversationId);
    expect(history.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Say hello'],
      ['assistant', 'Hello.'],
    ]);
    const [event] = (await client.traces.get(turnId)).events;
    expect(event?.requestId).toBe(turnId);
    expect((await client.traces.list({ limit: 1 })).turns[0]?.requestId).toBe(turnId);
    expect((await client.traces.event(turnId, event?.id ?? '')).requestId).toBe(turnId);
    await expect(client.turns.cancel(turnId)).rejects.toMatchObject({ code: 'TURN_FINISHED' });
  });

  it('runs the two-stage protocol where that is pinned', async () => {
    const { client } = await start();
    const { turnId } = await client.messages.send({ content: 'Hello' }, { twoStage: true });
    let last: TurnStreamEvent | undefined;
    for await (const event of client.turns.events(turnId)) last = event;
    expect(last).toMatchObject({ type: 'done', protocol: 'two-stage' });
    const other = client.messages.send({ content: 'x', metadata: { protocol: 'none' } });
    // Metadata chooses only where the settings let it.
    expect(await other).toHaveProperty('turnId');
  });

  it('goes on while nobody listens, and is one turn however often it is sent', async () => {
    const { client } = await start();
    const options = { idempotencyKey: 'once' };
    const first = await client.messages.send({ content: 'Say hello' }, options);
    const again = await client.messages.send({ content: 'Say hello' }, options);
    expect(again).toEqual(first);
    await expect.poll(async () => (await client.turns.get(first.turnId)).state).toBe('done');
    const polled = await client.turns.poll(first.turnId);
    expect([polled.done, polled.events.at(-1)?.type]).toEqual([true, 'done']);
    const other = client.messages.send({ content: 'Something else' }, options);
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH', status: 422 });
  });
});

describe('files over HTTP', () => {
  it('are uploaded through connections that break, and whole', { tags: ['long'] }, async () => {
    const proxy = await cuttingProxy([200_000, 300_000, 250_000]);
    const { port, root } = await start({ allowHosts: [proxy.host] });
    proxy.leadTo(port);
    const url = `http://${proxy.host}`;
    const { writeSessions, changes } = createOrionClient({ url, token: TOKEN });
    const text = Buffer.from('0123456789é\n'.repeat(80_000));
    const { session_id } = await writeSessions.begin({
      intent: 'Upload it',
      target_file: 'big.txt',
      operation: 'create',
    });
    expect((await writeSessions.upload(session_id, text)).bytes).toBe(text.length);
    expect(proxy.left).toEqual([]);
    expect(await writeSessions.content(session_id, { from: 5, to: 12 })).toEqual(
      new Uint8Array(text.subarray(5, 12)),
    );
    expect((await writeSessions.diff(session_id)).target_file).toBe('big.txt');
    expect((await writeSessions.list()).total).toBe(1);
    const done = await writeSessions.finalize(session_id, { bytes: text.length });
    expect(done).toMatchObject({ status: 'done', target_file: 'big.txt' });
    expect(await readFile(join(root, 'big.txt'))).toEqual(text);
    expect(await writeSessions.get(session_id)).toMatchObject({ status: 'done' });
    const [change] = (await changes.list()).changes;
    expect((await changes.diff(change?.change_id ?? '')).files[0]?.target_file).toBe('big.txt');
    await changes.undo(change?.change_id ?? '');
    await expect(readFile(join(root, 'big.txt'))).rejects.toThrow(/ENOENT/u);
  });

  it('are written by plans, corrected, recovered and put aside', async () => {
    const { client, root, orion } = await start();
    const plan = {
      intent: 'Begin.',
      operations: [{ type: 'create', target_file: 'a.txt', content: 'a\n' }],
    };
    const { previewHash } = await client.plans.preview({ plan });
    await client.plans.apply({ plan, previewHash: previewHash ?? '' });
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('a\n');
    const { writeSessions } = client;
    const begin = async (target_file: string, bytes: Uint8Array): Promise<string> => {
      const what = { intent: 'x', target_file, operation: 'create' } as const;
      const { session_id } = await writeSessions.begin(what);
      await writeSessions.append(session_id, 0, bytes);
      return session_id;
    };
    const broken = await begin('b.txt', new Uint8Array([0x61, 0xff, 0x62]));
    const refused = await writeSessions.finalize(broken).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'INVALID_CONTENT' });
    await writeSessions.correct(broken, { corrections: [{ index: 1, text: 'é' }] });
    const left = await begin('c.txt', Buffer.from('c'));
    await expect(writeSessions.append(left, 7, Buffer.from('x'))).rejects.toMatchObject({
      code: 'OFFSET_MISMATCH',
      status: 409,
    });
    expect(await writeSessions.discard(left)).toMatchObject({ status: 'discarded' });
    expect(await writeSessions.recover(left, { finalize: true })).toMatchObject({ status: 'done' });
    const { id } = await orion.storeOutput('{"items":[1,2]}', 'items');
    const { toolOutputs } = client;
    expect((await toolOutputs.list()).outputs[0]?.id).toBe(id);
    expect(await toolOutputs.get(id)).toMatchObject({ output: { items: [1, 2] } });
    expect((await toolOutputs.stats(id, { paths: ['$.items', '$'] })).id).toBe(id);
    expect(await toolOutputs.extract(id, { paths: ['$.items[0]'] })).toHaveProperty('extracted');
    expect((await toolOutputs.count(id, { queries: [{ path: '$.items' }] })).total).toBe(2);
    expect((await toolOutputs.sample(id, { path: '$.items', size: 1 })).items).toHaveLength(1);
  });
});

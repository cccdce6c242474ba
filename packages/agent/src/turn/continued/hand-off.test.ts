import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { systemClock } from '@orion/contracts';
import type { RunEvent } from '@orion/contracts';
import { callsReply, expectValidHistory, textReply, toolCall } from '@orion/testkit';
import { expect, it } from 'vitest';

import { beginCall, openWorkspace } from '../../testing/set-up.ts';
import { openTurn, saying, text, tool } from '../../testing/taken-turn.ts';
import type { TakenTurn } from '../../testing/taken-turn.ts';

/** Hazard: a process that stops ends its turns, keeps what their next owner needs, or does not let go of them. */

async function logged(turn: TakenTurn): Promise<readonly string[]> {
  return (await turn.log()).map(({ type }) => type);
}

/** Hands the turn off as soon as `isTime`; what its reader saw. */
async function handedOff(
  turn: TakenTurn,
  owner: Awaited<ReturnType<TakenTurn['owner']>>,
  isTime: () => Promise<boolean>,
): Promise<readonly RunEvent[]> {
  const handOff = new AbortController();
  const running = turn.run(owner, { handOff: handOff.signal });
  await expect.poll(isTime, { interval: 5 }).toBe(true);
  handOff.abort();
  const events = await running;
  if (events === null) throw new Error('it died');
  expect(events.map(({ type }) => type)).not.toContain('done');
  expect(await logged(turn)).not.toContain('done');
  return events;
}

it('leaves nothing of an incomplete message behind, as often as it happens', async () => {
  const turn = await openTurn();
  for (let times = 1; times <= 5; times += 1) {
    const owner = await turn.owner([saying(text('half an ans'))]);
    await handedOff(turn, owner, async () => (await logged(turn)).at(-1) === 'chunk');
    expect((await logged(turn)).filter((type) => type === 'rewind')).toHaveLength(times);
  }
  const last = await turn.owner([textReply('an answer')]);
  const events = await turn.run(last);
  expect(events?.map(({ type }) => type)).toEqual(['phase', 'chunk', 'done']);
  expect(events?.at(-1)).toMatchObject({ status: 'complete', fullContent: 'an answer' });
});

it('counts what was spent in it, exactly', async () => {
  const turn = await openTurn();
  const settings = { maxTokens: 100 };
  const owner = await turn.owner([saying(text('x'.repeat(396)))], { settings });
  await handedOff(turn, owner, async () => (await logged(turn)).at(-1) === 'chunk');
  const claim = await turn.store.turnLog.acquire('t', null);
  expect(claim.checkpoint).toMatchObject({
    seq: claim.lastSeq,
    state: { spent: { protocol: { calls: 1, tokens: 99 } } },
  });
});

it('counts what was streamed of a file once, however often it is handed off', async () => {
  const turn = await openTurn();
  const owner = await turn.owner([callsReply([beginCall()]), saying(text('x'.repeat(400)))]);
  await handedOff(turn, owner, async () => (await logged(turn)).includes('write_chunk'));
  for (let times = 0; times < 2; times += 1) {
    const next = await turn.owner([saying()]);
    await handedOff(turn, next, () => Promise.resolve(next.adapter.requests.length === 1));
  }
  const claim = await turn.store.turnLog.acquire('t', null);
  // Each of the two others has asked once, and was told nothing.
  expect(claim.checkpoint).toMatchObject({
    seq: claim.lastSeq,
    state: { spent: { content: { calls: 3, tokens: 102 } } },
  });
});

it('leaves a file that is being streamed to the next owner', async () => {
  const turn = await openTurn();
  const owner = await turn.owner([callsReply([beginCall()]), saying(text('one\ntwo\n'))]);
  const events = await handedOff(turn, owner, async () =>
    (await logged(turn)).includes('write_chunk'),
  );
  expect(owner.effects).toContainEqual({ kind: 'disk', name: 'release' });
  expect(await logged(turn)).not.toContain('rewind');
  // Nobody is told that it waits for a person: it does not.
  expect(events.some((event) => event.type === 'write_session' && event.paused !== undefined)).toBe(
    false,
  );
  const next = await turn.owner([textReply('one\ntwo\nthree\nDONE\n'), textReply('written')]);
  expect(await next.orion.listSessions('recoverable')).toMatchObject([{ status: 'orphan' }]);
  await turn.run(next);
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\nthree\n');
  expect((await logged(turn)).filter((type) => type === 'done')).toHaveLength(1);
  expectValidHistory((await turn.store.conversations.load('c'))?.history ?? []);
});

it('lets a file be written to its end, and the session go after that', async () => {
  const turn = await openTurn();
  const handOff = new AbortController();
  const owner = await turn.owner([callsReply([beginCall()]), textReply('one\nDONE\n')], {
    speed: 6,
    isSeen: true,
    async delay({ name }) {
      if (name !== 'commit') return;
      handOff.abort();
      // Longer than a turn is waited for.
      await pause(100);
    },
  });
  const running = turn.run(owner, { handOff: handOff.signal });
  await expect.poll(() => handOff.signal.aborted, { interval: 5 }).toBe(true);
  const next = await turn.owner([textReply('written')], { speed: 6 });
  const [left, events] = await Promise.all([running, turn.run(next)]);
  expect(left?.map(({ type }) => type)).not.toContain('done');
  expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\n');
  expect(events?.at(-1)).toMatchObject({ status: 'complete', fullContent: 'written' });
  const receipts = (await turn.log()).filter(
    (event) => event.type === 'write_session' && event.receipt !== undefined,
  );
  expect(receipts).toHaveLength(1);
  expect(await next.orion.listSessions()).toEqual([]);
});

it('does not wait for a tool that does not stop; whether it had an effect is not known', async () => {
  let finish = (): void => undefined;
  const turn = await openTurn([
    tool(
      'Do',
      'write',
      () => new Promise((resolve) => (finish = () => resolve({ result: 'ran' }))),
    ),
  ]);
  const owner = await turn.owner([callsReply([toolCall('1', 'Do')]), textReply('never')]);
  await handedOff(turn, owner, () => Promise.resolve(turn.ran['Do']?.length === 1));
  const before = await logged(turn);
  expect(before).not.toContain('rewind');
  // It ends when the turn is somebody else's: nothing of it is stored or begun.
  finish();
  await new Promise(setImmediate);
  expect(await logged(turn)).toEqual(before);
  expect(owner.adapter.requests).toHaveLength(1);
  const next = await turn.owner([textReply('I see')]);
  await turn.run(next);
  const results = (await turn.log()).filter((event) => event.type === 'tool_result');
  expect(results).toMatchObject([{ callId: '1', error: { code: 'UNKNOWN_OUTCOME' } }]);
  expect(turn.ran['Do']).toHaveLength(1);
});

it('does not wait for a store that is away', async () => {
  const turn = await openTurn();
  const { turnLog } = turn.store;
  let isAway = false;
  const store = {
    ...turn.store,
    turnLog: {
      ...turnLog,
      appendAll: (appends: Parameters<typeof turnLog.appendAll>[0]) =>
        isAway ? new Promise<never>(() => undefined) : turnLog.appendAll(appends),
    },
  };
  const owner = await turn.owner([saying(text('half'))], { store });
  await handedOff(turn, owner, async () => {
    isAway = (await logged(turn)).at(-1) === 'chunk';
    return isAway;
  });
  const events = await turn.run(await turn.owner([textReply('an answer')]));
  expect(events?.at(-1)).toMatchObject({ fullContent: 'an answer' });
});

it('is what closing does, and a cancelled turn ends instead', async () => {
  const turn = await openTurn();
  const closed = await turn.owner([saying(text('half'))]);
  const running = turn.run(closed);
  await expect.poll(async () => (await logged(turn)).at(-1)).toBe('chunk');
  await closed.orion.close();
  expect((await running)?.map(({ type }) => type)).not.toContain('done');
  const cancelled = await turn.owner([callsReply([beginCall()]), saying(text('one\n'))]);
  const cancel = new AbortController();
  const ending = turn.run(cancelled, { signal: cancel.signal });
  await expect.poll(async () => (await logged(turn)).includes('write_chunk')).toBe(true);
  cancel.abort();
  expect((await ending)?.slice(-2)).toMatchObject([
    { type: 'write_session', status: 'session_active.paused', paused: { code: 'ABORTED' } },
    { type: 'done', status: 'paused', stopReason: 'cancelled' },
  ]);
  expect(await turn.store.conversations.load('c')).toMatchObject({
    openSessionId: expect.any(String),
  });
});

it('a reader that leaves leaves the turn to the next owner', async () => {
  const turn = await openTurn();
  const owner = await turn.owner([saying(text('half'))]);
  const claim = await turn.store.turnLog.acquire('t', null);
  for await (const event of owner.orion.runOwnedTurn(claim, {
    content: 'q',
    conversationId: 'c',
  })) {
    if (event.type === 'chunk') break;
  }
  expect((await logged(turn)).at(-1)).toBe('rewind');
  const events = await turn.run(await turn.owner([textReply('an answer')]));
  expect(events?.at(-1)).toMatchObject({ status: 'complete', fullContent: 'an answer' });
});

it.each(['has the session', 'has begun the file'])(
  'gives a turn back while another process %s',
  async (other) => {
    const turn = await openTurn();
    const owner = await turn.owner([callsReply([beginCall()]), saying(text('one\n'))]);
    await handedOff(turn, owner, async () => (await logged(turn)).includes('write_chunk'));
    const [session] = await owner.orion.listSessions();
    const alive = await openWorkspace(turn.root, systemClock);
    let { handle } = await alive.sessions.claim(session?.session_id ?? '');
    if (other === 'has begun the file') {
      await handle.release();
      handle = await alive.sessions.begin({ ...handle.metadata, session_id: randomUUID() });
    }
    const before = await logged(turn);
    const patient = turn.run(await turn.owner([], { speed: 20 }));
    await expect(patient).rejects.toMatchObject({ code: 'SESSION_BUSY' });
    const handOff = new AbortController();
    const stopped = turn.run(await turn.owner([]), { handOff: handOff.signal });
    setTimeout(() => handOff.abort(), 20);
    expect(await stopped).toEqual([]);
    expect(await logged(turn)).toEqual(before);
    const next = await turn.owner([textReply('one\ntwo\nDONE\n'), textReply('written')]);
    const running = turn.run(next);
    setTimeout(() => void handle.release(), 20);
    expect((await running)?.at(-1)).toMatchObject({ status: 'complete' });
    expect(await readFile(join(turn.root, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  },
  10_000,
);

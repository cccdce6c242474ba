import { randomUUID } from 'node:crypto';
import type { SessionContent, SessionOwner, TurnClaim } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStore } from '../open-store.ts';
import type { Store } from '../open-store.ts';
import { execute, useTestDatabase } from '../testing/test-database.ts';

/** Hazard: an owner that was overtaken, or has not heard an answer, changes what belongs to another one. */

const own = useTestDatabase();
let store: Store;
let content: SessionContent;

beforeAll(() => {
  store = openStore({ kind: 'postgres', url: own.url() }, { clock: createFakeClock() });
  if (store.sessionContent === null) throw new Error('a store in Postgres has sessions');
  content = store.sessionContent;
});
afterAll(() => store.close());

const ROOT = '/w';

async function begin(
  fence: TurnClaim | null = null,
  targetKey: string = randomUUID(),
): Promise<SessionOwner> {
  const sessionId = randomUUID();
  const records = { metadata: '{}', state: '{"of":"begin"}', turn: null };
  const owner = await content.begin({ sessionId, root: ROOT, targetKey, records, fence });
  if (owner === null) throw new Error('the target was free');
  return owner;
}

function piece(text: string, at: number = 0, generation: number = 0): { content: Piece } {
  return { content: { generation, at, bytes: Buffer.from(text) } };
}

type Piece = { readonly generation: number; readonly at: number; readonly bytes: Uint8Array };

const COMMIT = { path: 'a.txt', before: null, after: 'a'.repeat(64), record: '{}' };

async function textOf(
  { sessionId }: SessionOwner,
  text: 'content' | 'pending' | 'trailing' = 'content',
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content.read(sessionId, text, 0, Number.POSITIVE_INFINITY))
    chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function claimOf(
  owner: SessionOwner,
  fence: TurnClaim | null = null,
): ReturnType<typeof content.claim> {
  const { sessionId } = owner;
  return content.claim({ sessionId, root: ROOT, targetKey: sessionId, fence });
}

test('the session of a turn belongs to the owner of the turn, however long that is silent', async () => {
  const turnId = randomUUID();
  const first = await store.turnLog.acquire(turnId, 1);
  const old = await begin(first);
  await content.append([{ owner: old, pieces: piece('one') }]);
  await execute(own.url(), 'update write_session set beat_at = 0');
  expect((await content.find(ROOT, old.sessionId))?.isLive).toBe(true);
  expect((await claimOf(old)).kind).toBe('busy');

  const second = await store.turnLog.acquire(turnId, 2);

  // Before anybody has claimed it.
  expect(await content.append([{ owner: old, pieces: piece('late', 3) }])).toEqual([
    { kind: 'fenced' },
  ]);
  expect(await content.decide(old, COMMIT)).toBe(false);
  expect(await content.startOver(old, 1, '{}')).toBeNull();
  expect(await content.confirm([old])).toEqual([old]);
  expect((await content.find(ROOT, old.sessionId))?.isLive).toBe(true);
  expect((await claimOf(old)).kind).toBe('busy');
  const claimed = await claimOf(old, second);
  if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
  expect(claimed.owner.epoch).toBeGreaterThan(old.epoch);
  // The answer was lost, and the same owner asks again.
  expect((await claimOf(old, second)).kind).toBe('claimed');
  expect((await claimOf(old, first)).kind).toBe('busy');
  // Nobody would ever want a session that it begins now.
  await expect(begin(first)).rejects.toThrow('the target was free');
  await content.release(old);
  await content.remove(old);
  expect(await textOf(old)).toBe('one');
});

test('whoever decides a commit while its turn is being acquired waits, and is refused', async () => {
  const turnId = randomUUID();
  const old = await begin(await store.turnLog.acquire(turnId, 1));
  const other = new Client({ connectionString: own.url() });
  await other.connect();
  try {
    await other.query('begin');
    await other.query('update turn set epoch = epoch + 1048576 where turn_id = $1', [turnId]);
    let isDecided = false;
    const decided = content.decide(old, COMMIT).finally(() => {
      isDecided = true;
    });
    const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect
      .poll(async () => isDecided || (await execute(own.url(), waits)).length > 0)
      .toBe(true);
    await other.query('commit');
    expect(await decided).toBe(false);
  } finally {
    await other.end();
  }
});

test('one statement for many sessions stores of each what its owner may, and says where the others end', async () => {
  const [good, taken, ahead] = [await begin(), await begin(), await begin()];
  await content.append([{ owner: ahead, pieces: piece('answered too late') }]);
  await execute(
    own.url(),
    `update write_session set beat_at = 0 where session_id = '${taken.sessionId}'`,
  );
  await claimOf(taken);
  const gone = { sessionId: randomUUID(), epoch: 1 };
  const state = '{"of":"append"}';
  expect(
    await content.append([
      { owner: taken, pieces: piece('x'), state },
      { owner: good, pieces: { ...piece('one\ntwo'), pending: piece('?').content }, state },
      { owner: gone, pieces: piece('x') },
      { owner: ahead, pieces: piece('answered too late'), state },
    ]),
  ).toMatchObject([
    { kind: 'fenced' },
    { kind: 'stored', places: { content: { bytes: 7 }, pending: { bytes: 1 } } },
    { kind: 'fenced' },
    { kind: 'elsewhere', places: { content: { generation: 0, bytes: 17 } } },
  ]);
  expect(await content.find(ROOT, good.sessionId)).toMatchObject({ state, lines: 2, lineFeeds: 1 });
  expect(await content.find(ROOT, taken.sessionId)).toMatchObject({ state: '{"of":"begin"}' });
  expect(await textOf(ahead)).toBe('answered too late');
});

test('a cleared text is gone, and content that is begun anew lies behind what was set aside', async () => {
  const owner = await begin();
  const aside = { generation: 0, at: 0, bytes: Buffer.from('aside ') };
  await content.append([
    { owner, pieces: { ...piece('one '), trailing: aside, pending: piece('maybe').content } },
  ]);
  await content.append([{ owner, pieces: piece('two', 4) }]);
  for (let time = 0; time < 2; time += 1) {
    expect(await content.startOver(owner, 1, '{"of":"anew"}')).toMatchObject({
      content: { generation: 1, bytes: 0 },
      trailing: { generation: 0, bytes: 13 },
    });
  }
  await content.append([
    { owner, pieces: { ...piece('three', 0, 1), pending: piece('', 0, 1).content } },
  ]);
  expect(await textOf(owner)).toBe('three');
  expect(await textOf(owner, 'trailing')).toBe('aside one two');
  expect(await textOf(owner, 'pending')).toBe('');
  await content.remove(owner);
  const rows = await execute(
    own.url(),
    `select 1 from session_piece where not exists
       (select 1 from write_session where write_session.session_no = session_piece.session_no)`,
  );
  expect(rows).toEqual([]);
});

test('a begin whose answer was lost is repeated by the owner of its turn, and by nobody else', async () => {
  const turnId = randomUUID();
  const fence = await store.turnLog.acquire(turnId, 1);
  const sessionId = randomUUID();
  const records = { metadata: '{}', state: '{}', turn: null };
  const session = { sessionId, root: ROOT, targetKey: randomUUID(), records, fence };
  expect(await content.begin(session)).not.toBeNull();
  const owner = await content.begin(session);
  if (owner === null) throw new Error('its own begin is in its way');
  expect(await content.begin({ ...session, sessionId: randomUUID() })).toBeNull();
  await content.append([{ owner, pieces: piece('text') }]);
  await expect(content.begin({ ...session, targetKey: randomUUID() })).rejects.toThrow();
  expect(await textOf(owner)).toBe('text');
});

test('a begin without a turn whose answer was lost is repeated by the same call, and by no other', async () => {
  const records = { metadata: '{"of":"this call"}', state: '{}', turn: null };
  const target = { root: ROOT, targetKey: randomUUID(), fence: null };
  const session = { ...target, sessionId: randomUUID(), records };
  const other = { ...records, metadata: '{"of":"another call"}' };
  const first = await content.begin(session);
  expect(await content.begin({ ...session, records: other })).toBeNull();
  const owner = await content.begin(session);
  if (first === null || owner === null) throw new Error('its own begin is in its way');
  const { turnId, epoch } = await store.turnLog.acquire(randomUUID(), 1);
  expect(await content.begin({ ...session, fence: { turnId, epoch } })).toBeNull();
  expect(await content.append([{ owner, pieces: piece('text') }])).toMatchObject([
    { kind: 'stored' },
  ]);
  expect(await content.begin(session)).toBeNull();
  expect(await textOf(owner)).toBe('text');
});

test('a change without a session is not taken for a repeat of another one', async () => {
  const change = { root: ROOT, targetKey: randomUUID(), records: null, fence: null };
  const sessionId = randomUUID();
  expect(await content.begin({ ...change, sessionId })).not.toBeNull();
  expect(await content.begin({ ...change, sessionId })).toBeNull();
});

test('a target is held by one session, also of several that ask at once, until its owner is dead', async () => {
  const targetKey = randomUUID();
  const asked = await Promise.allSettled(Array.from({ length: 8 }, () => begin(null, targetKey)));
  const [held, ...more] = asked.flatMap((each) =>
    each.status === 'fulfilled' ? [each.value] : [],
  );
  expect(more).toEqual([]);
  if (held === undefined) throw new Error('nobody has it');
  const change = { root: ROOT, targetKey, records: null, fence: null };
  expect(await content.begin({ ...change, sessionId: randomUUID() })).toBeNull();
  await execute(
    own.url(),
    `update write_session set beat_at = 0 where target_key = '${targetKey}'`,
  );
  const next = await content.begin({ ...change, sessionId: randomUUID() });
  if (next === null) throw new Error('the dead one still holds it');
  expect(await content.claim({ ...change, sessionId: held.sessionId })).toEqual({ kind: 'held' });
  expect(await content.append([{ owner: held, pieces: piece('late') }])).toEqual([
    { kind: 'fenced' },
  ]);
  await content.release(next);
  expect(await content.claim({ ...change, sessionId: held.sessionId })).toMatchObject({
    kind: 'claimed',
  });
});

test.each(['hand-off', 'kill'])(
  'a turn keeps its target over a %s until it is over, and then a person gets the session',
  async (end) => {
    const turnId = randomUUID();
    const first = await store.turnLog.acquire(turnId, 1);
    const targetKey = randomUUID();
    const old = await begin(first, targetKey);
    await content.append([{ owner: old, pieces: piece('one') }]);
    if (end === 'hand-off') {
      await content.release(old);
      await content.remove(old);
    }
    const other = await store.turnLog.acquire(randomUUID(), 1);
    const isRefused = async (): Promise<void> => {
      await expect(begin(other, targetKey)).rejects.toThrow('the target was free');
      await expect(begin(null, targetKey)).rejects.toThrow('the target was free');
      expect(await content.putAway(ROOT, old.sessionId, null)).toBe(false);
    };
    await isRefused();

    const second = await store.turnLog.acquire(turnId, 2);

    await isRefused();
    // Its last owner may not take back what belongs to the next.
    await expect(begin(first, targetKey)).rejects.toThrow('the target was free');
    const claim = { sessionId: old.sessionId, root: ROOT, targetKey };
    expect(await content.claim({ ...claim, fence: first })).toEqual({ kind: 'busy' });
    expect(await content.append([{ owner: old, pieces: piece('late', 3) }])).toEqual([
      { kind: 'fenced' },
    ]);
    const claimed = await content.claim({ ...claim, fence: second });
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
    await isRefused();
    await content.release(claimed.owner);
    await isRefused();
    await execute(own.url(), `update turn set finished_at = 1 where turn_id = '${turnId}'`);

    expect((await content.find(ROOT, old.sessionId))?.isLive).toBe(false);
    const person = await content.claim({ ...claim, fence: null });
    if (person.kind !== 'claimed') throw new Error(person.kind);
    await content.release(person.owner);
    await begin(other, targetKey);
    expect(await content.claim({ ...claim, fence: null })).toEqual({ kind: 'held' });
    expect(await textOf(old)).toBe('one');
  },
);

test('a turn begins a file again whose session it, or its last owner, has let go', async () => {
  const turnId = randomUUID();
  const targetKey = randomUUID();
  const first = await store.turnLog.acquire(turnId, 1);
  await content.release(await begin(first, targetKey));
  const left = await begin(first, targetKey);
  await expect(begin(first, targetKey)).rejects.toThrow('the target was free');
  await begin(await store.turnLog.acquire(turnId, 2), targetKey);
  expect(await content.append([{ owner: left, pieces: piece('late') }])).toEqual([
    { kind: 'fenced' },
  ]);
});

test('nothing is left of a session that was put away for long enough', async () => {
  const owner = await begin();
  await content.append([{ owner, pieces: piece('text') }]);
  await content.decide(owner, COMMIT);
  await content.putAway(ROOT, owner.sessionId, owner);
  await content.forget(ROOT, 60_000);
  expect(await content.find(ROOT, owner.sessionId)).toMatchObject({ isPutAway: true });
  await content.forget(ROOT, 0);
  expect(await content.find(ROOT, owner.sessionId)).toBeNull();
  expect(await textOf(owner)).toBe('');
  const { sessionId } = owner;
  const left = `select 1 from file_commit where session_id = '${sessionId}'`;
  expect(await execute(own.url(), left)).toEqual([]);
});

test('a session is alive for as long as its owner confirms it, and is not put away by the one before', async () => {
  const old = await begin();
  const isLive = async (): Promise<unknown> => (await content.find(ROOT, old.sessionId))?.isLive;
  const later = `update write_session set beat_at = beat_at - 9000 where session_id = '${old.sessionId}'`;
  await execute(own.url(), later);
  expect(await content.confirm([old])).toEqual([]);
  await execute(own.url(), later);
  expect(await isLive()).toBe(true);
  await execute(own.url(), later);
  expect(await isLive()).toBe(false);
  const claimed = await claimOf(old);
  if (claimed.kind !== 'claimed') throw new Error(claimed.kind);
  expect(await content.putAway(ROOT, old.sessionId, old)).toBe(false);
  expect(await isLive()).toBe(true);
  expect(await content.putAway(ROOT, old.sessionId, claimed.owner)).toBe(true);
});

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { OrionError, systemClock } from '@orion/contracts';
import type {
  AppendOutcome,
  Clock,
  CompleteAttempt,
  ConversationSave,
  ConversationStore,
  RunEvent,
  Tool,
  TurnAppend,
  TurnLog,
} from '@orion/contracts';
import { callsReply, createFakeAdapter, textReply, toolCall } from '@orion/testkit';
import type { FakeAdapter, FakeReply } from '@orion/testkit';
import { openStore } from '@orion/trace-store';
import type { Store } from '@orion/trace-store';
import { beforeEach, expect, it, onTestFinished } from 'vitest';

import { createOrion } from '../create-orion.ts';
import type { Orion, OwnedTurnRequest } from '../orion.ts';
import { beginCall, beginSession, openWorkspace, temporaryDirectory } from '../testing/set-up.ts';

/**
 * Hazard: a turn that another process has taken goes on here: it writes the file, the conversation and the log of its
 * new owner.
 */

const TURN = 'turn';
const CONTENT = textReply('one\ntwo\n', 'DONE\n');
const WRITES: readonly FakeReply[] = [callsReply([beginCall()]), CONTENT, textReply('written')];

let workspace: string;
let store: Store;
let adapter: FakeAdapter;
let orion: Orion;
/** Sees every append of the turn before it is stored. */
let beforeAppend: (append: TurnAppend) => Promise<void>;
let beforeSave: (conversation: ConversationSave) => Promise<void>;
let ran: number;

const TOOL: Tool = {
  definition: { name: 'Note_add', description: 'adds a note', parameters: { type: 'object' } },
  effect: 'write',
  execute: () => {
    ran += 1;
    return Promise.resolve({ result: 'added' });
  },
};

beforeEach(async () => {
  workspace = await temporaryDirectory();
  store = openStore({ kind: 'memory' }, { clock: systemClock });
  beforeAppend = () => Promise.resolve();
  beforeSave = () => Promise.resolve();
  ran = 0;
});

async function start(replies: readonly FakeReply[], clock: Clock = systemClock): Promise<void> {
  adapter = createFakeAdapter(replies);
  const turnLog: TurnLog = {
    ...store.turnLog,
    async append(turnId, epoch, expectSeq, events) {
      await beforeAppend({ turnId, epoch, expectSeq, events });
      return store.turnLog.append(turnId, epoch, expectSeq, events);
    },
    async appendAll(appends): Promise<readonly AppendOutcome[]> {
      for (const append of appends) await beforeAppend(append);
      return store.turnLog.appendAll(appends);
    },
    async finish(append, ...rest) {
      await beforeAppend(append);
      return store.turnLog.finish(append, ...rest);
    },
  };
  const conversations: ConversationStore = {
    ...store.conversations,
    async save(conversation) {
      await beforeSave(conversation);
      return store.conversations.save(conversation);
    },
  };
  const parts = { ...store, turnLog, conversations };
  orion = await createOrion({ workspace, adapter, tools: [TOOL], store: parts, clock });
  onTestFinished(async () => {
    await orion.close();
    await store.close();
  });
}

const MESSAGE = { content: 'q', conversationId: 'c' } as const;

/** What a reader of the turn itself saw, and what it ended with. */
async function runOwned(
  request: Partial<OwnedTurnRequest> = {},
): Promise<{ readonly events: RunEvent[]; readonly error: unknown }> {
  const claim = await store.turnLog.acquire(TURN, 1);
  const events: RunEvent[] = [];
  try {
    for await (const event of orion.runOwnedTurn(claim, { ...MESSAGE, ...request }))
      events.push(event);
    return { events, error: null };
  } catch (error) {
    return { events, error };
  }
}

/** Another process takes the turn when an append comes that this is true of. */
function takeAt(isMoment: (append: TurnAppend) => boolean): void {
  let isTaken = false;
  beforeAppend = async (append) => {
    if (isTaken || !isMoment(append)) return;
    isTaken = true;
    const { epoch, lastSeq } = await store.turnLog.acquire(TURN, 2);
    const seq = lastSeq + 1;
    await store.turnLog.append(TURN, epoch, seq, [{ seq, kind: 'chunk', data: 'taken' }]);
    await store.conversations.save({
      conversationId: 'c',
      projectId: 'p',
      history: [{ role: 'user', content: 'of the new owner' }],
      from: 0,
      openSessionId: null,
      revision: (await store.conversations.load('c'))?.revision ?? 0,
      fence: { turnId: TURN, epoch },
    });
  };
}

const has =
  (kind: string, status?: string) =>
  ({ events }: TurnAppend): boolean =>
    events.some(
      (event) =>
        event.kind === kind &&
        (status === undefined || (event.data as { status?: string }).status === status),
    );

async function logged(): Promise<readonly string[]> {
  return (await store.turnLog.read(TURN, 0)).map(({ kind }) => kind);
}

/** Nothing but what the new owner wrote has come since. */
async function expectStopped({
  events = [],
  error,
}: {
  readonly events?: readonly RunEvent[];
  readonly error: unknown;
}): Promise<void> {
  expect(error).toMatchObject({ code: 'FENCED' });
  const types = events.map(({ type }) => type);
  for (const late of ['error', 'done']) expect(types).not.toContain(late);
  await orion.close();
  const entries = await store.turnLog.read(TURN, 0);
  expect(entries.at(-1)).toMatchObject({ kind: 'chunk', data: 'taken' });
  expect((await store.conversations.load('c'))?.history).toEqual([
    { role: 'user', content: 'of the new owner' },
  ]);
  expect((await readdir(workspace)).filter((name) => name !== '.orion')).toEqual([]);
}

async function roles(): Promise<unknown> {
  return (await store.conversations.load('c'))?.history.map(({ role }) => role);
}

it('a turn that nobody takes ends with its file, its conversation and one done (R282)', async () => {
  await start(WRITES);
  const { events, error } = await runOwned();
  expect(error).toBeNull();
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  const entries = await store.turnLog.read(TURN, 0);
  expect(entries.map(({ seq, kind }) => [seq, kind])).toEqual(
    events.map(({ seq, type }) => [seq, type]),
  );
  expect(entries.filter(({ kind }) => kind === 'done')).toHaveLength(1);
  expect(new Set(entries.map(({ turnId }) => turnId))).toEqual(new Set([TURN]));
  expect(await roles()).toEqual(['user', 'assistant', 'tool', 'assistant']);
  await expect(store.turnLog.acquire(TURN, 2)).rejects.toMatchObject({ code: 'TURN_FINISHED' });
});

it('a turn whose store was away for a moment tells nobody that anything may be lost', async () => {
  await start(WRITES);
  let failures = 0;
  beforeAppend = () => {
    failures += 1;
    const away = { code: 'STORE_UNAVAILABLE', message: 'at 10.0.0.5', retryable: true } as const;
    return failures === 1 ? Promise.reject(new OrionError(away)) : Promise.resolve();
  };
  const { events, error } = await runOwned();
  expect([failures > 1, error]).toEqual([true, null]);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  expect(JSON.stringify(events)).not.toContain('10.0.0.5');
});

it('a turn ends with the attempt of its queue, and not at all without it', async () => {
  await start([textReply('one'), textReply('two')]);
  const run = async (attempt: number, complete: CompleteAttempt): Promise<void> => {
    const claim = await store.turnLog.acquire(TURN, attempt);
    for await (const _ of orion.runOwnedTurn(claim, { ...MESSAGE, complete }));
  };
  const said = async () =>
    (await store.conversations.load('c'))?.history.map(({ content }) => content) ?? [];
  const notOwn = run(1, () => Promise.resolve(false));
  await expect(notOwn).rejects.toMatchObject({ code: 'FENCED' });
  expect(await logged()).not.toContain('done');
  expect(await said()).not.toContain('one');
  await run(2, () => Promise.resolve(true));
  expect((await logged()).at(-1)).toBe('done');
  expect(await said()).toEqual(['q', 'two']);
});

it('a second turn of the conversation goes on where the first has ended', async () => {
  await start([textReply('one'), textReply('two')]);
  await runOwned();
  const next = await store.turnLog.acquire('next', 1);
  for await (const _ of orion.runOwnedTurn(next, MESSAGE));
  expect((await store.conversations.load('c'))?.history.map(({ content }) => content)).toEqual([
    'q',
    'one',
    'q',
    'two',
  ]);
});

it('a turn that is taken before its calls are stored runs none of them (O5)', async () => {
  await start([callsReply([toolCall('1', 'Note_add')]), textReply('never')]);
  takeAt(has('tool_calls'));
  await expectStopped(await runOwned());
  expect(ran).toBe(0);
  expect(adapter.requests).toHaveLength(1);
});

it('a turn that is taken between two of its calls runs the first of them alone (O4)', async () => {
  await start([
    callsReply([toolCall('1', 'Note_add'), toolCall('2', 'Note_add', { again: true })]),
  ]);
  takeAt(() => ran === 1);
  await expectStopped(await runOwned());
  expect(ran).toBe(1);
});

it('a turn that is taken while its model writes a file leaves no file, and its session to the new owner (O5)', async () => {
  await start([
    callsReply([beginCall()]),
    async function* slowly() {
      yield { type: 'text-delta', text: 'one\n' };
      while (!(await logged()).includes('write_chunk')) await new Promise(setImmediate);
      takeAt(() => true);
      yield { type: 'text-delta', text: 'two\n' };
      await new Promise((resolve) => {
        setTimeout(resolve, 200);
      });
      yield { type: 'text-delta', text: 'DONE\n' };
      yield { type: 'finish', reason: 'stop' };
    },
  ]);
  const result = await runOwned();
  const [session] = await orion.listSessions('recoverable');
  // Without a state: its owner before has saved none.
  expect(session).toMatchObject({ target_file: 'a.txt', state: null });
  await expectStopped(result);
});

it('a turn that is left right before its model writes a file, while its store is away, leaves that to its next owner', async () => {
  await start(WRITES);
  const handOff = new AbortController();
  beforeSave = ({ openSessionId }) => {
    if (openSessionId === null) return Promise.resolve();
    handOff.abort();
    const away = { code: 'STORE_UNAVAILABLE', message: 'away', retryable: true } as const;
    return Promise.reject(new OrionError(away));
  };
  await runOwned({ handOff: handOff.signal });
  const other = await openWorkspace(workspace, systemClock);
  const lockOf = async (): Promise<unknown> => (await beginSession(other)).remove();
  await expect.poll(lockOf).toBeDefined();
  expect(await other.sessions.list('all')).toMatchObject([{ status: 'orphan' }]);
  beforeSave = () => Promise.resolve();
  await runOwned();
  expect(await roles()).toEqual(['user', 'assistant', 'tool', 'assistant']);
});

it('a turn that is taken right before its model writes a file leaves that to its new owner (O5)', async () => {
  await start(WRITES);
  takeAt(has('tool_result'));
  const { error } = await runOwned();
  expect(error).toMatchObject({ code: 'FENCED' });
  await orion.close();
  const other = await openWorkspace(workspace, systemClock);
  expect(await other.sessions.list('all')).toMatchObject([{ target_file: 'a.txt' }]);
});

it('a turn that is taken right before its commit writes no file (O4)', async () => {
  await start(WRITES);
  takeAt(has('write_session', 'session_active.finalizing'));
  await expectStopped(await runOwned());
});

it('a turn that is taken at its end keeps neither its done nor its conversation (O5)', async () => {
  await start([textReply('one')]);
  takeAt(has('done'));
  const { events, error } = await runOwned();
  expect(events.map(({ type }) => type)).not.toContain('done');
  await expectStopped({ error });
});

it('a turn that is taken before it begins asks no model (O4)', async () => {
  await start([textReply('never')]);
  takeAt(() => true);
  await expectStopped(await runOwned());
  expect(adapter.requests).toHaveLength(0);
});

it('a turn whose log went back stops as one that was taken (O5)', async () => {
  await start([callsReply([toolCall('1', 'Note_add')])]);
  const { turnLog } = store;
  // As after a failover to a standby that had nothing of it.
  store = {
    ...store,
    turnLog: {
      ...turnLog,
      appendAll: (appends) =>
        appends.some(has('tool_calls'))
          ? Promise.resolve([{ kind: 'gap', lastSeq: 0 }])
          : turnLog.appendAll(appends),
    },
  };
  const { error } = await runOwned();
  expect(error).toMatchObject({ code: 'TURN_LOG_GAP' });
  expect(ran).toBe(0);
});

it('who asks for the end of a turn ends it, and its owner stores the done', async () => {
  await start([
    async function* slowly() {
      yield { type: 'text-delta', text: 'one' };
      await store.turnLog.requestCancel(TURN);
      await new Promise((resolve) => {
        setTimeout(resolve, 200);
      });
      yield { type: 'text-delta', text: 'two' };
      yield { type: 'finish', reason: 'stop' };
    },
  ]);
  const { events, error } = await runOwned();
  expect(error).toBeNull();
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'aborted', stopReason: 'cancelled' });
  expect((await logged()).at(-1)).toBe('done');
});

it('a turn of a command goes on when its log is taken, and writes its file', async () => {
  await start(WRITES);
  let isTaken = false;
  beforeAppend = async ({ turnId, events }) => {
    if (isTaken || !events.some(({ kind }) => kind === 'tool_calls')) return;
    isTaken = true;
    await store.turnLog.acquire(turnId, 2);
  };
  const events: RunEvent[] = [];
  for await (const event of orion.runTurn({ content: 'q' })) events.push(event);
  expect(isTaken).toBe(true);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('one\ntwo\n');
  expect(orion.notStored().turnEvents).toBeGreaterThan(0);
});

it('R169: the time that the store takes to confirm the owner before a request is none of the turn', async () => {
  let away = 0;
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + away };
  await start([callsReply([toolCall('n', 'Note_add')]), textReply('done')], clock);
  beforeAppend = async (append) => {
    if (away > 0 || !has('phase')(append)) return;
    await new Promise(setImmediate);
    away = 200_000;
  };
  const { events } = await runOwned();
  expect(away).toBe(200_000);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete', fullContent: 'done' });
});

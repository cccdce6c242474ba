import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  OrionError,
  systemClock,
  type RunEvent,
  type TraceEvent,
  type Workspace,
} from '@orion/contracts';
import { callsReply, createFakeAdapter, createFakeClock, textReply, collect } from '@orion/testkit';
import { createWorkspace } from '@orion/workspace';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { Orion, OrionOptions } from './orion.ts';
import { runEventOf } from './store/log-entry.ts';
import { openStore, type Store } from './index.ts';
import { temporaryDirectory, openOrion, beginCall, beginSession } from './testing/set-up.ts';

let workspace: string;

beforeEach(async () => {
  workspace = await temporaryDirectory();
});

async function orionWith(options: Partial<OrionOptions>): Promise<Orion> {
  return openOrion({ workspace, ...options });
}

const begin = callsReply([beginCall()]);

describe('the store of a turn', () => {
  it('goes on with a conversation that another process began', async () => {
    const store = openStore({ kind: 'memory' }, { clock: systemClock });
    const first = await orionWith({ store, adapter: createFakeAdapter([textReply('Yes.')]) });
    const [event] = await collect(first.runTurn({ content: 'one' }));
    const adapter = createFakeAdapter([textReply('Two.')]);
    const second = await orionWith({ store, adapter });

    await collect(second.runTurn({ content: 'two', conversationId: event?.conversationId ?? '' }));

    expect(adapter.requests[0]?.messages.slice(1).map((message) => message.content)).toEqual([
      'one',
      'Yes.',
      'two',
    ]);
    await store.close();
  });

  it('has every event under the number with which it was shown, content left out', async () => {
    const adapter = createFakeAdapter([
      begin,
      textReply('the first ', 'line\n', 'DONE\n'),
      textReply('Writ', 'ten', '.'),
    ]);
    const orion = await orionWith({ adapter });

    const events = await collect(orion.runTurn({ content: 'write' }));

    const entries = await orion.store.turnLog.read(events[0]?.requestId ?? '', 0);
    expect(entries.map(runEventOf)).toEqual(
      events.map((event) =>
        event.type === 'write_chunk'
          ? { ...event, content: null }
          : (JSON.parse(JSON.stringify(event)) as RunEvent),
      ),
    );
    expect(JSON.stringify(entries)).not.toContain('the first');
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('the first line\n');
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  });

  it('has an event that changes the disk before the change', async () => {
    const seen: Record<string, unknown> = {};
    const inner = await createWorkspace({ root: workspace, clock: systemClock });
    let turnId = '';
    const logged = async (): Promise<unknown> => {
      const entries = await orion.store.turnLog.read(turnId, 0);
      const { kind, data } = entries.at(-1) ?? { kind: 'nothing', data: {} };
      return [kind, (data as { readonly status?: string }).status];
    };
    const watched: Workspace = {
      maxTargetBytes: inner.maxTargetBytes,
      networkFileSystem: () => inner.networkFileSystem(),
      root: inner.root,
      stateDirectory: inner.stateDirectory,
      sessions: inner.sessions,
      ensureStateDirectory: () => inner.ensureStateDirectory(),
      checkTarget: async (target, operation) => {
        seen['begin'] ??= await logged();
        return inner.checkTarget(target, operation);
      },
      readTarget: (snapshot) => inner.readTarget(snapshot),
      prepareCommit: (request) => inner.prepareCommit(request),
      changes: () => inner.changes(),
      findChangedFile: (changeId) => inner.findChangedFile(changeId),
      undo: (request) => inner.undo(request),
      readVersion: (path, sha256) => inner.readVersion(path, sha256),
      commitPlan: (request) => inner.commitPlan(request),
      commit: async (request) => {
        seen['commit'] = await logged();
        return inner.commit(request);
      },
      createScratchFile: () => inner.createScratchFile(),
      keepServerToken: () => inner.keepServerToken(),
      announceServer: (address) => inner.announceServer(address),
      withdrawServer: (address) => inner.withdrawServer(address),
      findServer: () => inner.findServer(),
      readPageAccess: () => inner.readPageAccess(),
      updatePageAccess: (change) => inner.updatePageAccess(change),
      tryDisk: () => inner.tryDisk(),
      textList: (name, limits) => inner.textList(name, limits),
      readText: (path, range) => inner.readText(path, range),
      listFiles: (limit, selection) => inner.listFiles(limit, selection),
      searchFiles: (request) => inner.searchFiles(request),
      listProtected: () => inner.listProtected(),
      protectedChanges: (before, how) => inner.protectedChanges(before, how),
      readInstructions: (maxBytes) => inner.readInstructions(maxBytes),
      close: () => inner.close(),
    };
    const adapter = createFakeAdapter([begin, textReply('x\nDONE\n'), textReply('Written.')]);
    const orion = await orionWith({ adapter, createWorkspace: () => Promise.resolve(watched) });
    for await (const event of orion.runTurn({ content: 'write' })) turnId = event.requestId;
    expect(seen).toEqual({
      begin: ['tool_calls', undefined],
      commit: ['write_session', 'session_active.finalizing'],
    });
  });

  it('knows the open session of a conversation before its content arrives', async () => {
    let open: string | null | undefined;
    const adapter = createFakeAdapter([
      begin,
      async function* () {
        const [conversation] = await orion.store.conversations.list({ limit: 1 });
        open = conversation?.openSessionId;
        yield { type: 'text-delta', text: 'x\nDONE\n' };
        yield { type: 'finish', reason: 'stop' };
      },
      textReply('Written.'),
    ]);
    const orion = await orionWith({ adapter });

    const events = await collect(orion.runTurn({ content: 'write' }));

    const session = events.find((event) => event.type === 'write_session');
    expect(open).toBe(session?.type === 'write_session' ? session.sessionId : 'no session');
    expect(await orion.store.conversations.list({ limit: 9 })).toMatchObject([
      { openSessionId: null, messages: 4 },
    ]);
  });

  it('ends the log of a turn that its reader left', async () => {
    const adapter = createFakeAdapter([textReply('a', 'b', 'c')]);
    const orion = await orionWith({ adapter });
    let turnId = '';
    for await (const event of orion.runTurn({ content: 'x' })) {
      turnId = event.requestId;
      if (event.type === 'chunk') break;
    }
    const entries = await orion.store.turnLog.read(turnId, 0);
    expect(entries.at(-1)).toMatchObject({ kind: 'done', data: { status: 'aborted' } });
  });

  it('shows traces as they are recorded, and stores them', async () => {
    const seen: TraceEvent[] = [];
    const orion = await orionWith({
      adapter: createFakeAdapter([textReply('Yes.')]),
      onTrace: (event) => seen.push(event),
    });
    const [event] = await collect(orion.runTurn({ content: 'x' }));
    await orion.traces.flush();
    const stored = await orion.store.traces.getTrace(event?.requestId ?? '');
    expect(stored.map((one) => one.type)).toEqual(seen.map((one) => one.type));
    expect(stored.at(-1)?.type).toBe('turn_ended');
  });

  it('may fail in every method: the turn ends well, with one notice', async () => {
    const broken = await brokenStore();
    const adapter = createFakeAdapter([
      begin,
      textReply('x\nDONE\n'),
      textReply('Written.'),
      textReply('Again.'),
    ]);
    const traced: TraceEvent[] = [];
    const onTrace = (event: TraceEvent): void => void traced.push(event);
    const orion = await orionWith({ store: broken, adapter, onTrace });

    const first = await collect(orion.runTurn({ content: 'write', conversationId: 'c' }));
    const second = await collect(orion.runTurn({ content: 'again', conversationId: 'c' }));

    expect(first.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('x\n');
    const notices = [...first, ...second].filter(
      (event) => event.type === 'chunk' && event.content.startsWith('The store does not work'),
    );
    expect(notices).toHaveLength(1);
    // What the log does not have is counted, when nothing more can come of it.
    await orion.close();
    expect(orion.notStored()).toMatchObject({
      turnEvents: first.length + second.length,
      conversations: 1,
    });
    const [incomplete] = traced.filter((event) => event.type === 'turn_log_incomplete');
    expect(incomplete?.details).toEqual({ dropped: first.length });
    // In this process the conversation goes on nevertheless.
    expect(adapter.requests[3]?.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'user',
    ]);
    expect(second.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  });
});

async function brokenStore(): Promise<Store> {
  const working = openStore({ kind: 'memory' }, { clock: systemClock });
  await working.close();
  const away = (): Promise<never> =>
    Promise.reject(new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable: true }));
  return {
    ...working,
    conversations: { save: away, load: away, rename: away, list: away },
    turnLog: { ...working.turnLog, acquire: away, append: away, epochOf: away, read: away },
  };
}

it('R063: tidies up every hour, for as long as it is open', async () => {
  const clock = createFakeClock(Date.now());
  const inner = await createWorkspace({ root: workspace, clock });
  let housekept = 0;
  const housekeep = inner.sessions.housekeep.bind(inner.sessions);
  inner.sessions.housekeep = async () => {
    housekept += 1;
    // One that fails is not the last one.
    if (housekept === 2) throw new Error('the disk is away');
    return housekeep();
  };
  const handle = await beginSession(inner);
  handle.append('text\n');
  await handle.release();
  // It came to its end before this start.
  clock.jump(1_000);
  const schedule = vi.spyOn(clock, 'schedule');
  const orion = await orionWith({ createWorkspace: () => Promise.resolve(inner), clock });
  const hour = 60 * 60 * 1000;
  const armed = (): number => schedule.mock.calls.filter(([after]) => after === hour).length;
  await clock.advance(hour - 1);
  expect(housekept).toBe(0);
  await clock.advance(1);
  await expect.poll(() => readdir(join(workspace, '.orion/attic'))).toEqual([handle.id]);
  for (const count of [2, 3]) {
    await expect.poll(armed).toBe(count);
    await clock.advance(hour);
    await expect.poll(() => housekept).toBe(count);
  }
  await orion.close();
  await clock.advance(3 * hour);
  expect(housekept).toBe(3);
});

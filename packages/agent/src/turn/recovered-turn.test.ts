import { systemClock } from '@orion/contracts';
import { appendFile, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';

import type { CommitPart, RunEvent, WriteOperation } from '@orion/contracts';
import { createWorkspace } from '@orion/workspace';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import type { FinalizeRequest, Orion } from '../orion.ts';
import { temporaryDirectory, openOrion, RECORD, beginSession } from '../testing/set-up.ts';

let root: string;

beforeEach(async () => {
  root = await temporaryDirectory();
});

type Moment = 'before the rename' | 'after the rename' | 'with the change refused';

/** A session whose process died around the commit of `entry\n`; afterwards a person adds a line to the file, unless it is not `edited`. */
async function killed(
  moment: Moment,
  operation: WriteOperation,
  { target = 'log.txt', edited = true, text = 'entry\n', thinking = '' } = {},
): Promise<string> {
  const person = async (): Promise<void> => {
    if (edited) await appendFile(join(root, target), 'a person\n');
  };
  const workspace = await createWorkspace({
    root,
    clock: systemClock,
    // The same process number with another start time: to everybody else this process is gone.
    identity: async () => ({
      pid: process.pid,
      host: hostname(),
      pidNamespace: await readlink('/proc/self/ns/pid').catch(() => ''),
      startedAt: 'gone',
    }),
  });
  onTestFinished(() => workspace.close());
  const handle = await beginSession(workspace, target, operation);
  const { id: sessionId, metadata } = handle;
  const expected = metadata.target;
  handle.append(`${thinking}${text}`);
  await handle.save({
    ...RECORD,
    state: 'session_active.finalizing',
    ...(thinking === '' ? {} : { content_start: thinking.length, thinking: 'set_aside' }),
  });
  const added: CommitPart = { kind: 'new', source: () => handle.readContent(thinking.length) };
  const prepared = await workspace.prepareCommit({
    target,
    operation,
    parts:
      operation === 'append' ? [{ kind: 'kept', start: 0, end: expected.bytes }, added] : [added],
    eol: 'match',
    expected,
    changeId: sessionId,
  });
  await handle.recordWriting(prepared.writing);
  if (moment === 'before the rename') onTestFinished(() => prepared.discard());
  if (moment === 'with the change refused') await person();
  if (moment !== 'before the rename') await prepared.apply().catch(() => undefined);
  if (moment !== 'with the change refused') await person();
  return sessionId;
}

async function nextStart(): Promise<Orion> {
  const orion = await openOrion({ workspace: root });
  await orion.housekeep();
  return orion;
}

async function finalize(orion: Orion, request: FinalizeRequest): Promise<readonly RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of orion.finalizeSession(request)) events.push(event);
  return events;
}

function commandsIn(events: readonly RunEvent[]): string {
  return events
    .flatMap((event) => (event.type === 'write_session' ? (event.paused?.commands ?? []) : []))
    .join('\n');
}

const read = (target: string): Promise<string> => readFile(join(root, target), 'utf8');

describe('R088: an append whose process died, and a file that a person changed since', () => {
  it('that had happened is not repeated, however often a person says to overwrite', async () => {
    await writeFile(join(root, 'log.txt'), 'one\n');
    const sessionId = await killed('after the rename', 'append');
    const orion = await nextStart();

    const first = await finalize(orion, { sessionId });
    expect(commandsIn(first)).not.toContain('overwrite');
    expect(commandsIn(first)).toContain('keep-both');
    expect(JSON.stringify(first)).toContain('has its text already');
    for (const onConflict of ['overwrite', 'overwrite'] as const) {
      const events = await finalize(orion, { sessionId, onConflict });
      expect(events.at(-1)).toMatchObject({ type: 'done', status: 'paused' });
      expect(await read('log.txt')).toBe('one\nentry\na person\n');
    }
    await finalize(orion, { sessionId, onConflict: 'keep-both' });
    expect(await read(`log.orion-${sessionId.slice(0, 4)}.txt`)).toBe('entry\n');
    expect(await read('log.txt')).toBe('one\nentry\na person\n');
  });

  it.each(['before the rename', 'with the change refused'] as const)(
    'that died %s is added when a person says so, once',
    async (moment) => {
      await writeFile(join(root, 'log.txt'), 'one\n');
      const sessionId = await killed(moment, 'append');
      const orion = await nextStart();
      expect(await readdir(root)).toEqual(['.orion', 'log.txt']);

      expect(commandsIn(await finalize(orion, { sessionId }))).toContain('overwrite');
      expect(await read('log.txt')).toBe('one\na person\n');
      const events = await finalize(orion, { sessionId, onConflict: 'overwrite' });
      expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
      expect(await read('log.txt')).toBe('one\na person\nentry\n');
    },
  );

  it('what had happened shows also when its backup would be dropped', async () => {
    await writeFile(join(root, 'log.txt'), 'one\n');
    const sessionId = await killed('after the rename', 'append');
    const full = await createWorkspace({
      root,
      clock: systemClock,
      settings: { backupsMaxBytes: 1, backupsMaxAgeMs: 0 },
    });
    const expected = await full.checkTarget('other.txt', 'create');
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('x');
    };
    await full.commit({
      target: 'other.txt',
      operation: 'create',
      parts: [{ kind: 'new', source }],
      eol: 'match',
      expected,
      journal: async () => undefined,
    });
    await full.sessions.housekeep();
    await full.close();
    const orion = await nextStart();

    await finalize(orion, { sessionId, onConflict: 'overwrite' });

    expect(await read('log.txt')).toBe('one\nentry\na person\n');
  });
});

describe('R071: the receipt of a commit that had happened', () => {
  it('says that the session directory could not be removed', async () => {
    await writeFile(join(root, 'log.txt'), 'one\n');
    const sessionId = await killed('after the rename', 'append', { edited: false });
    const orion = await nextStart();
    const sessions = join(root, '.orion/logs/write_sessions');
    // The name that the directory gets before it goes is taken.
    await mkdir(join(sessions, `.removed-${sessionId}/taken`), { recursive: true });
    const receiptOf = (events: readonly RunEvent[]): unknown =>
      events.flatMap((event) => (event.type === 'write_session' ? (event.receipt ?? []) : []))[0];
    const events = await finalize(orion, { sessionId });
    expect(receiptOf(events)).toMatchObject({
      session_id: sessionId,
      warnings: ['committed_before_the_interruption', 'session_directory_left'],
    });
    expect(await read('log.txt')).toBe('one\nentry\n');
    expect(await readdir(sessions)).toContain(sessionId);
    // The next start finishes it.
    const again = await nextStart();
    const last = await finalize(again, { sessionId });
    expect(receiptOf(last)).toMatchObject({
      warnings: ['committed_before_the_interruption'],
    });
    expect(await read('log.txt')).toBe('one\nentry\n');
    expect(await readdir(sessions)).toEqual([]);
  });

  it.each(['before the rename', 'after the rename'] as const)(
    'R275: names what is kept beside the file, killed %s',
    async (moment) => {
      const thinking = '<think>abc</think>\n\n';
      const sessionId = await killed(moment, 'create', { edited: false, thinking });
      const trailing = join(root, '.orion/attic', sessionId, 'trailing.txt');
      const events = await finalize(await nextStart(), { sessionId });
      expect(
        events.flatMap((event) => (event.type === 'write_session' ? (event.receipt ?? []) : [])),
      ).toMatchObject([{ thinking_set_aside: true, trailing }]);
      expect(await read('log.txt')).toBe('entry\n');
      expect(await readFile(trailing, 'utf8')).toBe(thinking);
    },
  );
});

describe('the last event of a session that is settled without its model', () => {
  it.each([
    ['done', { edited: false }],
    ['session_active.paused', { edited: true }],
  ] as const)('counts an open last line, as every event before it did: %s', async (status, how) => {
    await writeFile(join(root, 'log.txt'), 'one\n');
    const sessionId = await killed('after the rename', 'append', { ...how, text: 'two\nthree' });
    const events = await finalize(await nextStart(), { sessionId });
    expect(events.filter(({ type }) => type === 'write_session')).toMatchObject([
      { status, bytes: 9, lines: 2, durableBytes: 9 },
    ]);
  });
});

describe('R247: a whole text whose process died after it was written', () => {
  it('is written again when a person says to overwrite what was edited since', async () => {
    await writeFile(join(root, 'log.txt'), 'one\n');
    const sessionId = await killed('after the rename', 'overwrite');
    const orion = await nextStart();

    expect(commandsIn(await finalize(orion, { sessionId }))).toContain('overwrite');
    await finalize(orion, { sessionId, onConflict: 'overwrite' });

    expect(await read('log.txt')).toBe('entry\n');
  });
});

/** Everything that changes files, small enough to be repeated some thousand times. */
import { randomUUID } from 'node:crypto';

import { OrionError } from '@orion/contracts';
import type {
  CommitPart,
  SessionHandle,
  TargetSnapshot,
  Workspace,
  WriteOperation,
} from '@orion/contracts';
import { SESSION_RECORD } from '@orion/testkit/records';

import { commitPlan } from './commit-plan.ts';
import type { Files } from './place.ts';

export type Scenario = {
  readonly name: string;
  /** The files at first. */
  readonly initial: Files;
  /** What happened earlier, without faults. */
  readonly earlier?: (workspace: Workspace) => Promise<void>;
  readonly from: Files;
  readonly to: Files;
  /** Brings `from` to `to`, or rejects. Called again after it failed. */
  readonly run: (workspace: Workspace) => Promise<void>;
  /** After the next start all files are old, or all are new. */
  readonly together?: true;
  /** The text of a session: what is found of it after a failure is its beginning. */
  readonly text?: string;
};

/** Several lines, so that there is more than one write of more than one byte. */
const OLD = 'first\r\nsecond\r\nthird\r\n';
const NEW = 'one\ntwo\n';
const NEW_CRLF = 'one\r\ntwo\r\n';

type Parts = (expected: TargetSnapshot, added: CommitPart) => readonly CommitPart[];

const whole: Parts = (_, added) => [added];
const appended: Parts = ({ bytes }, added) => [{ kind: 'kept', start: 0, end: bytes }, added];
const edited =
  (from: number, to: number): Parts =>
  ({ bytes }, added) => [
    { kind: 'kept', start: 0, end: from },
    added,
    { kind: 'kept', start: to, end: bytes },
  ];

type Change = {
  readonly name: string;
  readonly operation: WriteOperation;
  readonly parts: Parts;
  readonly target: string;
  readonly before: string | null;
  readonly after: string;
};

const CHANGES: readonly Change[] = [
  {
    name: 'create',
    operation: 'create',
    parts: whole,
    target: 'a.txt',
    before: null,
    after: NEW,
  },
  {
    name: 'create in new directories',
    operation: 'create',
    parts: whole,
    target: 'd/e/a.txt',
    before: null,
    after: NEW,
  },
  {
    name: 'overwrite',
    operation: 'overwrite',
    parts: whole,
    target: 'a.txt',
    before: OLD,
    after: NEW_CRLF,
  },
  {
    name: 'append',
    operation: 'append',
    parts: appended,
    target: 'a.txt',
    before: OLD,
    after: OLD + NEW_CRLF,
  },
  {
    name: 'insert',
    operation: 'overwrite',
    parts: edited(7, 7),
    target: 'a.txt',
    before: OLD,
    after: `first\r\n${NEW_CRLF}second\r\nthird\r\n`,
  },
  {
    name: 'replace',
    operation: 'overwrite',
    parts: edited(7, 15),
    target: 'a.txt',
    before: OLD,
    after: `first\r\n${NEW_CRLF}third\r\n`,
  },
];

const THREE = { 'a.txt': OLD, 'b.txt': OLD, 'd/new.txt': null };
const TWO = { 'a.txt': OLD, 'a.txt.bak': null, 'd/new.txt': null };
const THREE_AFTER = { 'a.txt': OLD + NEW_CRLF, 'b.txt': NEW_CRLF, 'd/new.txt': NEW };

export const SCENARIOS: readonly Scenario[] = [
  ...CHANGES.map(committed),
  ...CHANGES.filter(({ name }) => name !== 'create in new directories').map(inSession),
  ...CHANGES.filter(({ name }) => ['create', 'append'].includes(name)).map(undone),
  {
    name: 'several files, prepared together',
    initial: THREE,
    from: THREE,
    to: THREE_AFTER,
    run: (workspace) => severalFiles(workspace, THREE),
  },
  {
    name: 'plan with a copy',
    initial: TWO,
    from: TWO,
    to: { 'a.txt': OLD + NEW_CRLF, 'a.txt.bak': OLD, 'd/new.txt': NEW },
    together: true,
    run: plan,
  },
  {
    name: 'undo of several files',
    initial: THREE,
    earlier: (workspace) => severalFiles(workspace, THREE),
    from: THREE_AFTER,
    to: THREE,
    run: async (workspace) => void (await workspace.undo({ id: CHANGE_ID })),
  },
];

function committed(change: Change): Scenario {
  return {
    name: change.name,
    initial: { [change.target]: change.before },
    from: { [change.target]: change.before },
    to: { [change.target]: change.after },
    run: (workspace) => commit(workspace, change),
  };
}

function undone(change: Change): Scenario {
  return {
    name: `undo of ${change.name}`,
    initial: { [change.target]: change.before },
    earlier: (workspace) => commit(workspace, change),
    from: { [change.target]: change.after },
    to: { [change.target]: change.before },
    run: async (workspace) => void (await workspace.undo({ id: CHANGE_ID })),
  };
}

function inSession(change: Change): Scenario {
  return {
    ...committed(change),
    name: `session: ${change.name}`,
    text: NEW,
    run: (workspace) => runSession(workspace, change),
  };
}

const CHANGE_ID = 'the-change';

/** In two pieces. */
const bytesOf = (text: string) =>
  async function* source(): AsyncGenerator<Uint8Array> {
    const middle = Math.floor(text.length / 2);
    yield Buffer.from(text.slice(0, middle));
    yield Buffer.from(text.slice(middle));
  };

async function commit(
  workspace: Workspace,
  change: Change,
  handle: SessionHandle | null = null,
): Promise<void> {
  const expected =
    handle?.metadata.target ?? (await workspace.checkTarget(change.target, change.operation));
  const source = handle === null ? bytesOf(NEW) : () => handle.readContent();
  await workspace.commit({
    target: change.target,
    operation: change.operation,
    parts: change.parts(expected, { kind: 'new', source }),
    eol: 'match',
    expected,
    changeId: handle?.id ?? CHANGE_ID,
    journal: async (writing) => handle?.recordWriting(writing),
  });
}

const SEVERAL: readonly [string, WriteOperation, Parts][] = [
  ['a.txt', 'append', appended],
  ['b.txt', 'overwrite', whole],
  ['d/new.txt', 'overwrite', whole],
];

async function plan(workspace: Workspace): Promise<void> {
  const changes = await Promise.all(
    SEVERAL.filter(([target]) => target in TWO).map(async ([target, operation, parts]) => {
      const expected = await workspace.checkTarget(target, operation);
      const added: CommitPart = { kind: 'new', source: bytesOf(NEW) };
      return { target, operation, parts: parts(expected, added), eol: 'match' as const, expected };
    }),
  );
  await commitPlan(workspace, {
    planId: randomUUID(),
    changes,
    siblingBackups: true,
    atomic: true,
  });
}

async function severalFiles(workspace: Workspace, before: Files): Promise<void> {
  const prepared = [];
  try {
    for (const [target, operation, parts] of SEVERAL) {
      const expected = await workspace.checkTarget(target, operation);
      // Done by the attempt that failed.
      if (expected.bytes !== (before[target]?.length ?? 0)) continue;
      prepared.push(
        await workspace.prepareCommit({
          target,
          operation,
          parts: parts(expected, { kind: 'new', source: bytesOf(NEW) }),
          eol: 'match',
          expected,
          changeId: CHANGE_ID,
        }),
      );
    }
    for (let next = prepared.shift(); next !== undefined; next = prepared.shift()) {
      await next.apply();
    }
  } finally {
    for (const left of prepared) await left.discard();
  }
}

const RECORD = { ...SESSION_RECORD, state: 'session_active.finalizing' } as const;

/** What the agent does with a session and its recovery, as far as the disk is concerned. */
async function runSession(workspace: Workspace, change: Change): Promise<void> {
  const opened = await openSession(workspace, change);
  if (opened === null) return;
  const { handle, isWritten } = opened;
  try {
    if (!isWritten) {
      handle.append(NEW.slice(handle.bytes()));
      // A session that cannot be saved continues in memory.
      await handle.save(RECORD).catch(onlyForTheUser);
      await commit(workspace, change, handle);
    }
    await handle.remove();
  } catch (error) {
    await handle.release().catch(onlyForTheUser);
    throw error;
  }
}

async function openSession(
  workspace: Workspace,
  change: Change,
): Promise<{ readonly handle: SessionHandle; readonly isWritten: boolean } | null> {
  const [left] = await workspace.sessions.list();
  if (left !== undefined) {
    const { handle, writing } = await workspace.sessions.claim(left.session_id);
    const became = writing === null ? 'before' : await handle.resolveWriting(writing);
    if (became !== 'before' && became !== 'after') {
      throw new Error('the target is neither the old nor the new one');
    }
    return { handle, isWritten: became === 'after' };
  }
  const sessionId = randomUUID();
  const target = await workspace.checkTarget(change.target, change.operation).catch((error) => {
    if (OrionError.isInstance(error) && error.code === 'FILE_EXISTS') return null;
    throw error;
  });
  // The attempt before this one did everything but say so.
  if (target === null || target.bytes === change.after.length) return null;
  const handle = await workspace.sessions.begin({
    version: 1,
    session_id: sessionId,
    intent: 'a fault',
    target_file: change.target,
    operation: change.operation,
    created_at: new Date().toISOString(),
    end_marker: `DONE ${sessionId.slice(0, 4)}`,
    final_newline: true,
    target,
  });
  return { handle, isWritten: false };
}

function onlyForTheUser(error: unknown): void {
  if (!OrionError.isInstance(error)) throw error;
}

import { existsSync, readdirSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { PlanCommitRequest, Workspace } from '@orion/contracts';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PlanJournals } from './plan-journal.ts';
import { createProcessObserver } from '../ownership/process-identity.ts';
import { StateDirectory } from '../state-directory.ts';
import {
  openTestWorkspace as openWithoutKey,
  sha256,
  sourceOf,
  temporaryDirectory,
} from '../testing/temp-workspace.ts';

/** Hazard: a plan of several files of which some changed and some did not. R120, R260. */

// Processes and threads start slowly on a machine that does much else.
vi.setConfig({ testTimeout: 60_000 });

/** What a start takes back it has to know for its own. */
let userKeyDirectory: string;

beforeAll(async () => {
  userKeyDirectory = await mkdtemp(join(tmpdir(), 'orion-keys-'));
  return () => rm(userKeyDirectory, { recursive: true });
});

const openTestWorkspace: typeof openWithoutKey = (options) =>
  openWithoutKey({ userKeyDirectory, ...options });

const PLAN_ID = '8f14e45f-ceea-4670-9e4a-0123456789ab';

async function changesOf(
  workspace: Workspace,
  contents: Readonly<Record<string, string>>,
): Promise<PlanCommitRequest['changes']> {
  return Promise.all(
    Object.entries(contents).map(async ([target, content]) => ({
      target,
      operation: 'overwrite' as const,
      parts: [{ kind: 'new' as const, source: sourceOf(content) }],
      eol: 'as-is' as const,
      expected: await workspace.checkTarget(target, 'overwrite'),
    })),
  );
}

const OLD = { 'a.txt': 'old a', 'b.txt': 'old b', 'c.txt': 'old c' };
const NEW = { 'a.txt': 'new a', 'd.txt': 'new d', 'b.txt': 'new b', 'c.txt': 'new c' };

async function writeOld(root: string): Promise<void> {
  for (const [name, content] of Object.entries(OLD)) await writeFile(join(root, name), content);
}

async function filesOf(root: string): Promise<Record<string, string>> {
  const names = readdirSync(root).filter((name) => name !== '.orion');
  const entries = names
    .toSorted()
    .map(async (name) => [name, await readFile(join(root, name), 'utf8')] as const);
  return Object.fromEntries(await Promise.all(entries));
}

const request = (
  changes: PlanCommitRequest['changes'],
  more: Partial<PlanCommitRequest> = {},
): PlanCommitRequest => ({
  planId: PLAN_ID,
  changes,
  siblingBackups: false,
  atomic: true,
  ...more,
});

describe('a plan of several files', () => {
  it('changes all of them, with a journal that is there before the first and gone after the last', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    const outcomes = await workspace.commitPlan(
      request(await changesOf(workspace, NEW), {
        siblingBackups: true,
        approve: async (prepared) => {
          expect(prepared.map((result) => result.sha256)).toEqual(Object.values(NEW).map(sha256));
          expect(await filesOf(root)).toMatchObject(OLD);
        },
      }),
    );
    expect(outcomes.map((each) => (each.kind === 'done' ? each.sibling : each))).toEqual([
      'a.txt.bak',
      undefined,
      'b.txt.bak',
      'c.txt.bak',
    ]);
    expect(await filesOf(root)).toEqual({
      ...NEW,
      'a.txt.bak': 'old a',
      'b.txt.bak': 'old b',
      'c.txt.bak': 'old c',
    });
    expect(readdirSync(join(root, '.orion/plans'))).toEqual([]);
    await workspace.undo({ id: PLAN_ID });
    expect(await filesOf(root)).toEqual(OLD);
  });

  it('prepares nothing that stays when a file cannot be prepared', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    const changes = await changesOf(workspace, NEW);
    await writeFile(join(root, 'c.txt'), 'changed');
    const outcomes = await workspace.commitPlan(request(changes, { siblingBackups: true }));
    expect(outcomes.map(({ kind }) => kind)).toEqual(['skipped', 'skipped', 'skipped', 'failed']);
    expect(await filesOf(root)).toEqual({ ...OLD, 'c.txt': 'changed' });
    expect(readdirSync(join(root, '.orion/backups'))).toEqual([]);
    expect(readdirSync(join(root, '.orion/locks'))).toEqual([]);
  });

  it('R120: ends for a defect as for any other failure, and says that it is one', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    const [first, second] = await changesOf(workspace, { 'a.txt': 'new a', 'b.txt': 'new b' });
    if (first === undefined || second === undefined) throw new Error('no changes');
    const source = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      throw new TypeError('a defect');
    };
    const broken = { ...second, parts: [{ kind: 'new' as const, source }] };
    const outcomes = await workspace.commitPlan(request([first, broken]));
    expect(outcomes).toMatchObject([
      { kind: 'skipped' },
      { kind: 'failed', error: { code: 'EXECUTION_FAILED' } },
    ]);
    expect(await filesOf(root)).toEqual(OLD);
    for (const inner of ['backups', 'temporaries', 'locks']) {
      expect(readdirSync(join(root, '.orion', inner)), inner).toEqual([]);
    }
  });

  it('prepares nothing that stays when nobody agrees', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    const approve = (): Promise<void> => Promise.reject(new Error('no'));
    const changes = await changesOf(workspace, NEW);
    await expect(workspace.commitPlan(request(changes, { approve }))).rejects.toThrow('no');
    expect(await filesOf(root)).toEqual(OLD);
    expect(readdirSync(join(root, '.orion/backups'))).toEqual([]);
  });

  it.each([
    [true, ['restored', 'restored', 'failed', 'skipped'], OLD],
    [false, ['done', 'done', 'failed', 'skipped'], { ...OLD, 'a.txt': 'new a', 'd.txt': 'new d' }],
  ])('takes back what was done before an error (atomic: %s)', async (atomic, kinds, left) => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    const approve = (): Promise<void> => writeFile(join(root, 'b.txt'), 'edited');
    const changes = await changesOf(workspace, NEW);
    const outcomes = await workspace.commitPlan(request(changes, { atomic, approve }));
    expect(outcomes.map(({ kind }) => kind)).toEqual(kinds);
    expect(outcomes[2]).toMatchObject({ error: { code: 'TARGET_CHANGED' } });
    expect(await filesOf(root)).toEqual({ ...left, 'b.txt': 'edited' });
    expect(readdirSync(join(root, '.orion/plans'))).toEqual([]);
    expect(readdirSync(join(root, '.orion/temporaries'))).toEqual([]);
  });

  it('R120, R246: one that is larger than the quota of the backups can be taken back all the same', async () => {
    const { root, workspace } = await openTestWorkspace({ settings: { backupsMaxBytes: 1 } });
    await writeOld(root);
    const approve = (): Promise<void> => writeFile(join(root, 'c.txt'), 'edited');
    const late = await workspace.commitPlan(request(await changesOf(workspace, NEW), { approve }));
    expect(late.map(({ kind }) => kind)).toEqual(['restored', 'restored', 'restored', 'failed']);
    expect(await filesOf(root)).toEqual({ ...OLD, 'c.txt': 'edited' });
    const planId = PLAN_ID.replace('8f', '9f');
    await workspace.commitPlan(request(await changesOf(workspace, NEW), { planId }));
    await workspace.sessions.housekeep();
    await workspace.undo({ id: planId });
    expect(await filesOf(root)).toEqual({ ...OLD, 'c.txt': 'edited' });
  });

  it('R120, R260: holds its files while they are taken back, and says which the next start restores', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    const changes = await changesOf(workspace, NEW);
    const disk = await interceptDisk();
    onTestFinished(() => disk.use(null));
    let failed = false;
    const locked: number[] = [];
    disk.use((call) => {
      const name = basename(call.to ?? call.path ?? '');
      if (call.name === 'rename' && name === 'c.txt') {
        failed = true;
        return { kind: 'error', code: 'EIO' };
      }
      if (!failed) return null;
      if (call.name === 'rename' && name === 'b.txt') {
        locked.push(readdirSync(join(root, '.orion/locks')).length);
      }
      return call.name === 'open' && name === 'a.txt' ? { kind: 'error', code: 'EIO' } : null;
    });
    const outcomes = await workspace.commitPlan(request(changes));
    disk.use(null);
    expect(outcomes).toMatchObject([
      { kind: 'left', willBeRestored: true, error: { code: 'WRITE_FAILED' } },
      { kind: 'restored' },
      { kind: 'restored' },
      { kind: 'failed' },
    ]);
    expect(locked).toEqual([Object.keys(NEW).length]);
    expect(readdirSync(join(root, '.orion/locks'))).toEqual([]);
    expect(await filesOf(root)).toEqual({ ...OLD, 'a.txt': 'new a' });
    await workspace.sessions.housekeep();
    expect(await filesOf(root)).toEqual(OLD);
  });

  it('does not wait for, nor disturb, whoever holds one of the files', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    const changes = await changesOf(workspace, NEW);
    const outcomes = await workspace.commitPlan(
      request(changes, {
        approve: async () => {
          const other = await workspace.commitPlan(
            request(changes.slice(0, 1), { planId: PLAN_ID.replace('8f', '9f') }),
          );
          expect(other).toMatchObject([{ kind: 'failed', error: { code: 'TARGET_LOCKED' } }]);
        },
      }),
    );
    expect(outcomes.every(({ kind }) => kind === 'done')).toBe(true);
    expect(readdirSync(join(root, '.orion/locks'))).toEqual([]);
  });

  it('gives copies the mode of the file', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    await chmod(join(root, 'a.txt'), 0o600);
    await workspace.commitPlan(
      request(await changesOf(workspace, { 'a.txt': 'x' }), { siblingBackups: true }),
    );
    const { statSync } = await import('node:fs');
    expect(statSync(join(root, 'a.txt.bak')).mode & 0o777).toBe(0o600);
  });

  it('R248: gives copies that mode, whatever the umask, also where the file system has no links', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeOld(root);
    await chmod(join(root, 'a.txt'), 0o666);
    const disk = await interceptDisk();
    onTestFinished(() => disk.use(null));
    disk.use((call) => (call.name === 'link' ? { kind: 'error', code: 'EPERM' } : null));
    const changes = await changesOf(workspace, { 'a.txt': 'x' });
    const [outcome] = await workspace.commitPlan(request(changes, { siblingBackups: true }));
    expect(outcome).toMatchObject({ kind: 'done', sibling: 'a.txt.bak' });
    const { statSync } = await import('node:fs');
    expect(statSync(join(root, 'a.txt.bak')).mode & 0o777).toBe(0o666);
  });
});

/** A process that ends itself in the middle of a plan, before the given change of a name. */
function killBefore(
  root: string,
  change: number,
  contents: Readonly<Record<string, string>> = NEW,
  allowPaths: readonly string[] = [],
): void {
  const script = fileURLToPath(new URL('../testing/plan-process.ts', import.meta.url));
  const ended = spawnSync(
    process.execPath,
    [
      '--conditions=@orion/source',
      script,
      JSON.stringify({ root, userKeyDirectory, contents, kill: change, allowPaths }),
    ],
    { encoding: 'utf8' },
  );
  expect(ended.signal, ended.stderr).toBe('SIGKILL');
}

describe('after a crash', () => {
  // Four files change: one by link, three by rename; each takes a moment after which the process dies.
  it.each([0, 1, 2, 3])(
    'between changes %i and the next, a start takes back what was done',
    async (change) => {
      const root = await temporaryDirectory();
      await writeOld(root);
      killBefore(root, change);
      const changed = Object.entries(NEW).slice(0, change);
      expect(await filesOf(root)).toMatchObject({ ...OLD, ...Object.fromEntries(changed) });
      expect(existsSync(join(root, '.orion/plans', PLAN_ID, 'journal.json'))).toBe(true);
      const { workspace, events } = await openTestWorkspace({ root });
      await workspace.sessions.housekeep();
      expect(await filesOf(root)).toEqual(OLD);
      expect(events).toContainEqual({
        type: 'plan_rolled_back',
        details: { plan_id: PLAN_ID, files: change },
      });
      expect(readdirSync(join(root, '.orion/plans'))).toEqual([]);
      expect(readdirSync(join(root, '.orion/temporaries'))).toEqual([]);
      // The same plan can be run again.
      const again = await workspace.commitPlan(
        request(await changesOf(workspace, NEW), { planId: PLAN_ID.replace('8f', '9f') }),
      );
      expect(again.every(({ kind }) => kind === 'done')).toBe(true);
    },
  );

  it('after the last change, a start finds it finished', async () => {
    const root = await temporaryDirectory();
    await writeOld(root);
    killBefore(root, 4);
    const { workspace, events } = await openTestWorkspace({ root });
    await workspace.sessions.housekeep();
    expect(await filesOf(root)).toEqual(NEW);
    expect(events.map(({ type }) => type)).toContain('plan_finished');
    expect(readdirSync(join(root, '.orion/plans'))).toEqual([]);
  });

  it('R260: takes back protected files too, without the permissions of the run that died, and asks nobody', async () => {
    const root = await temporaryDirectory();
    const old = { '.github/ci.yml': 'old', 'package.json': 'old', 'z.txt': 'old' };
    await mkdir(join(root, '.github'));
    for (const [name, text] of Object.entries(old)) await writeFile(join(root, name), text);
    const contents = Object.fromEntries(Object.keys(old).map((name) => [name, 'new']));
    killBefore(root, 2, contents, ['.github/**', 'package.json']);
    expect(await readFile(join(root, '.github/ci.yml'), 'utf8')).toBe('new');
    const confirmProtectedPath = vi.fn(async () => false);
    const { workspace, events } = await openTestWorkspace({ root, confirmProtectedPath });
    await workspace.sessions.housekeep();
    for (const name of Object.keys(old)) {
      expect(await readFile(join(root, name), 'utf8'), name).toBe('old');
    }
    expect(events.map(({ type }) => type)).not.toContain('plan_file_left');
    expect(readdirSync(join(root, '.orion/plans'))).toEqual([]);
    expect(confirmProtectedPath).not.toHaveBeenCalled();
    // Whoever asks for it still needs the permission.
    const target = workspace.checkTarget('.github/ci.yml', 'overwrite');
    await expect(target).rejects.toMatchObject({ code: 'PROTECTED_PATH' });
  });

  it('leaves a file alone that somebody changed since', async () => {
    const root = await temporaryDirectory();
    await writeOld(root);
    killBefore(root, 3);
    await writeFile(join(root, 'a.txt'), 'mine');
    const { workspace, events } = await openTestWorkspace({ root });
    await workspace.sessions.housekeep();
    expect(await filesOf(root)).toEqual({ ...OLD, 'a.txt': 'mine' });
    expect(events).toContainEqual({
      type: 'plan_file_left',
      details: { plan_id: PLAN_ID, path: 'a.txt', code: 'TARGET_CHANGED' },
    });
  });

  it('R260: leaves all as it is while one of the files cannot be read, and takes back once it can', async () => {
    const root = await temporaryDirectory();
    await writeOld(root);
    killBefore(root, 2);
    const { workspace, events } = await openTestWorkspace({ root });
    const disk = await interceptDisk();
    onTestFinished(() => disk.use(null));
    disk.use((call) =>
      call.name === 'open' && call.path === join(root, 'd.txt')
        ? { kind: 'error', code: 'EIO' }
        : null,
    );
    await workspace.sessions.housekeep();
    disk.use(null);
    expect(await filesOf(root)).toMatchObject({ ...OLD, 'a.txt': 'new a', 'd.txt': 'new d' });
    expect(events).toContainEqual({
      type: 'plan_file_left',
      details: { plan_id: PLAN_ID, path: 'd.txt', code: 'WRITE_FAILED' },
    });
    expect(events.map(({ type }) => type)).not.toContain('plan_rolled_back');
    await workspace.sessions.housekeep();
    expect(await filesOf(root)).toEqual(OLD);
    expect(readdirSync(join(root, '.orion/plans'))).toEqual([]);
  });

  it('survives a journal that is garbage, and one whose backups are gone', async () => {
    const root = await temporaryDirectory();
    await writeOld(root);
    killBefore(root, 2);
    await rm(join(root, '.orion/backups'), { recursive: true });
    const { workspace, events } = await openTestWorkspace({ root });
    await workspace.sessions.housekeep();
    expect(events.map(({ type }) => type)).toContain('plan_file_left');
    expect(readdirSync(join(root, '.orion/plans'))).toEqual([]);
    killBefore(root, 2);
    for (const text of ['', '[]', '{"version":1}', '\0'.repeat(100)]) {
      await writeFile(join(root, '.orion/plans', PLAN_ID, 'journal.json'), text);
      await workspace.sessions.housekeep();
    }
  });

  it('reads a file once that a journal names any number of times, and none of more files than a plan has', async () => {
    const root = await temporaryDirectory();
    await writeOld(root);
    killBefore(root, 2);
    const path = join(root, '.orion/plans', PLAN_ID, 'journal.json');
    const journal = JSON.parse(await readFile(path, 'utf8')) as { files: object[] };
    const named = (times: number): string => {
      const file = { path: 'z.txt', before: null, after: sha256('never'), backup_id: null };
      return JSON.stringify({ ...journal, files: Array.from({ length: times }, () => file) });
    };
    await writeFile(join(root, 'z.txt'), 'large');
    const { workspace } = await openTestWorkspace({ root });
    const disk = await interceptDisk();
    onTestFinished(() => disk.use(null));
    let reads = 0;
    disk.use(({ name, path: opened }) => {
      if (name === 'open' && opened === join(root, 'z.txt')) reads += 1;
      return null;
    });
    await writeFile(path, named(1_000));
    await workspace.sessions.housekeep();
    expect(reads).toBe(1);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, named(20_001));
    await workspace.sessions.housekeep();
    expect(reads).toBe(1);
  });

  it('takes back what it could not take back itself, at the next start, even while its process lives', async () => {
    const { root, workspace, clock, events } = await openTestWorkspace();
    await writeOld(root);
    const state = new StateDirectory(join(root, '.orion'));
    const journals = new PlanJournals(state, createProcessObserver(clock), clock);
    const outcomes = await workspace.commitPlan(
      request(await changesOf(workspace, { 'a.txt': 'new a' })),
    );
    const [done] = outcomes;
    if (done?.kind !== 'done') throw new Error('not written');
    const { result } = done;
    const writing = {
      temp: 'x',
      target: 'a.txt',
      before: sha256('old a'),
      after: result.sha256,
      result,
    };
    const other = { ...writing, target: 'b.txt', before: sha256('old b'), after: sha256('never') };
    const journal = await journals.write(PLAN_ID, true, [writing, other]);
    await workspace.sessions.housekeep();
    expect((await filesOf(root))['a.txt']).toBe('new a');
    await journal.release();
    await workspace.sessions.housekeep();
    expect(await filesOf(root)).toEqual(OLD);
    expect(events.map(({ type }) => type)).toContain('plan_rolled_back');
  });

  it('does not touch a plan that another process is writing', async () => {
    const { root, workspace, again } = await openTestWorkspace();
    await writeOld(root);
    const other = await again();
    let done = false;
    const plan = workspace.commitPlan(request(await changesOf(workspace, NEW)));
    const starts = (async () => {
      while (!done) await other.sessions.housekeep();
    })();
    const outcomes = await plan;
    done = true;
    await starts;
    expect(outcomes.map(({ kind }) => kind)).toEqual(['done', 'done', 'done', 'done']);
    expect(await filesOf(root)).toEqual(NEW);
  });
});

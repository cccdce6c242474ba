/** Undo gives back exactly the bytes that were there, or changes nothing (R246). */
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommitPart, Workspace, WriteOperation } from '@orion/contracts';
import { interceptDisk } from '@orion/testkit/disk-faults';
import { describe, expect, it } from 'vitest';
import {
  codeOf,
  commitRequest,
  openTestWorkspace,
  sha256,
  sourceOf,
  temporaryDirectory,
  metadataFor,
} from '../testing/temp-workspace.ts';
import type { TestWorkspace } from '../testing/temp-workspace.ts';

async function change(
  workspace: Workspace,
  path: string,
  operation: WriteOperation,
  text: string,
  changeId?: string,
): Promise<string> {
  const expected = await workspace.checkTarget(path, operation);
  const result = await workspace.commit({
    ...commitRequest(operation, expected, text),
    ...(changeId === undefined ? {} : { changeId }),
  });
  return result.backup_id ?? '';
}

async function bytesAt({ root }: TestWorkspace, path: string): Promise<Buffer | null> {
  const full = join(root, path);
  return existsSync(full) ? readFile(full) : null;
}

/** Anything but text, so that no decoding can pass. */
const ODD = Buffer.from([0xef, 0xbb, 0xbf, 0xff, 0x0d, 0x0a, 0x61, 0x0a, 0x00, 0xc3]);

describe('undo', () => {
  it('knows no change that is prepared and not made, as while a person is asked', async () => {
    const { root, workspace } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'before\n');
    const made = await change(workspace, 'a.txt', 'overwrite', 'old\n');
    const expected = await workspace.checkTarget('a.txt', 'overwrite');
    const prepared = await workspace.prepareCommit(commitRequest('overwrite', expected, 'new\n'));
    const ids = async (): Promise<readonly string[]> =>
      (await Array.fromAsync(workspace.changes())).map(({ change_id: id }) => id);
    const id = prepared.result.backup_id ?? '';
    expect(await ids()).toEqual([made]);
    expect(await codeOf(workspace.undo({ id }))).toBe('CHANGE_NOT_FOUND');
    await prepared.apply();
    expect((await ids()).toSorted()).toEqual([id, made].toSorted());
    await workspace.undo({ id });
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('old\n');
  });

  it.each<[WriteOperation, Buffer | null]>([
    ['create', null],
    ['overwrite', null],
    ['overwrite', ODD],
    ['append', ODD],
  ])('of %s restores the exact previous bytes, and its own undo the others', async (kind, old) => {
    const test = await openTestWorkspace();
    const { root, workspace, clock } = test;
    if (old !== null) {
      await writeFile(join(root, 'a.bin'), old);
      await chmod(join(root, 'a.bin'), 0o640);
    }
    const id = await change(workspace, 'a.bin', kind, 'new\n');
    const after = await bytesAt(test, 'a.bin');
    await clock.advance(1000);
    const report = await workspace.undo({});
    expect(await bytesAt(test, 'a.bin')).toEqual(old);
    expect(report).toMatchObject({
      change_id: id,
      files: [
        {
          target_file: 'a.bin',
          outcome: old === null ? 'removed' : 'restored',
          sha256: old === null ? null : sha256(old),
          warnings: [],
        },
      ],
    });
    await clock.advance(1000);
    expect(await codeOf(workspace.undo({}))).toBe('CHANGE_NOT_FOUND');
    await clock.advance(1000);
    await workspace.undo({ id: report.undo_id ?? '' });
    expect(await bytesAt(test, 'a.bin')).toEqual(after);
    if (old !== null) expect((await stat(join(root, 'a.bin'))).mode & 0o777).toBe(0o640);
    // The change is in effect again.
    await clock.advance(1000);
    await workspace.undo({});
    expect(await bytesAt(test, 'a.bin')).toEqual(old);
    expect((await readdir(root)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    expect(await readdir(join(root, '.orion/locks'))).toEqual([]);
  });

  it('of an edit between kept pieces', async () => {
    const test = await openTestWorkspace();
    await writeFile(join(test.root, 'a.bin'), ODD);
    const expected = await test.workspace.checkTarget('a.bin', 'overwrite');
    const parts: readonly CommitPart[] = [
      { kind: 'kept', start: 0, end: 4 },
      { kind: 'new', source: sourceOf('in between') },
      { kind: 'kept', start: 6, end: ODD.length },
    ];
    await test.workspace.commit({ ...commitRequest('overwrite', expected), parts });
    await test.workspace.undo({});
    expect(await bytesAt(test, 'a.bin')).toEqual(ODD);
  });

  it('called again goes back further', async () => {
    const test = await openTestWorkspace();
    const { workspace, clock } = test;
    for (const text of ['1', '2', '3']) {
      await change(workspace, 'a.txt', 'overwrite', text);
      await clock.advance(1000);
    }
    const seen: (string | null)[] = [];
    for (let round = 0; round < 3; round += 1) {
      await workspace.undo({});
      await clock.advance(1000);
      seen.push((await bytesAt(test, 'a.txt'))?.toString() ?? null);
    }
    expect(seen).toEqual(['2', '1', null]);
  });

  it('refuses after a later edit, even one of the same size, unless forced; that version is kept', async () => {
    const test = await openTestWorkspace();
    const { root, workspace, clock } = test;
    await writeFile(join(root, 'a.txt'), 'old');
    await change(workspace, 'a.txt', 'overwrite', 'new');
    await writeFile(join(root, 'a.txt'), 'NEW');
    await clock.advance(1000);
    expect(await codeOf(workspace.undo({}))).toBe('TARGET_CHANGED');
    expect(String(await bytesAt(test, 'a.txt'))).toBe('NEW');
    const report = await workspace.undo({ force: true });
    expect(String(await bytesAt(test, 'a.txt'))).toBe('old');
    await clock.advance(1000);
    await workspace.undo({ id: report.undo_id ?? '' });
    expect(String(await bytesAt(test, 'a.txt'))).toBe('NEW');
  });

  it('does not remove a file that was edited since it was made', async () => {
    const test = await openTestWorkspace();
    await change(test.workspace, 'a.txt', 'create', 'made');
    await writeFile(join(test.root, 'a.txt'), 'mine');
    expect(await codeOf(test.workspace.undo({}))).toBe('TARGET_CHANGED');
    await rm(join(test.root, 'a.txt'));
    // It is as it was before the change: nothing to do.
    const report = await test.workspace.undo({});
    expect(report).toMatchObject({ files: [{ outcome: 'unchanged', sha256: null }] });
    expect(report.undo_id).toBeUndefined();
  });

  it('goes one change further back each time, also past one that somebody has taken back by hand', async () => {
    const { root, workspace, clock } = await openTestWorkspace();
    await writeFile(join(root, 'a.txt'), 'old');
    const first = await change(workspace, 'a.txt', 'overwrite', 'new');
    await clock.advance(1000);
    await change(workspace, 'b.txt', 'create', 'made');
    await rm(join(root, 'b.txt'));
    const report = await workspace.undo({});
    expect(report.change_id).toBe(first);
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('old');
  });

  it('brings a file back that was removed since', async () => {
    const test = await openTestWorkspace();
    await mkdir(join(test.root, 'd'));
    await writeFile(join(test.root, 'd/a.sh'), 'old');
    await chmod(join(test.root, 'd/a.sh'), 0o750);
    const id = await change(test.workspace, 'd/a.sh', 'overwrite', 'new');
    await rm(join(test.root, 'd'), { recursive: true });
    expect(await codeOf(test.workspace.undo({ id }))).toBe('TARGET_CHANGED');
    await test.workspace.undo({ id, force: true });
    expect(String(await bytesAt(test, 'd/a.sh'))).toBe('old');
    expect((await stat(join(test.root, 'd/a.sh'))).mode & 0o777).toBe(0o750);
  });
});

describe('a change of several files', () => {
  async function threeFiles(): Promise<TestWorkspace> {
    const test = await openTestWorkspace();
    const { root, workspace, clock } = test;
    await writeFile(join(root, 'a.txt'), 'a');
    await writeFile(join(root, 'b.txt'), 'b');
    await change(workspace, 'a.txt', 'overwrite', 'A', 'plan-1');
    await change(workspace, 'new.txt', 'create', 'N', 'plan-1');
    await change(workspace, 'b.txt', 'append', 'B', 'plan-1');
    await change(workspace, 'a.txt', 'append', 'A', 'plan-1');
    await clock.advance(1000);
    return test;
  }

  const textsOf = async (test: TestWorkspace): Promise<readonly (string | null)[]> =>
    Promise.all(
      ['a.txt', 'b.txt', 'new.txt'].map(
        async (path) => (await bytesAt(test, path))?.toString() ?? null,
      ),
    );

  it('is taken back together, each file to before its first change', async () => {
    const test = await threeFiles();
    expect(await textsOf(test)).toEqual(['AA', 'bB', 'N']);
    const report = await test.workspace.undo({});
    expect(report.change_id).toBe('plan-1');
    expect(await textsOf(test)).toEqual(['a', 'b', null]);
    await test.clock.advance(1000);
    await test.workspace.undo({ id: report.undo_id ?? '' });
    expect(await textsOf(test)).toEqual(['AA', 'bB', 'N']);
    expect((await Array.fromAsync(test.workspace.changes())).map(({ status }) => status)).toEqual([
      'in_effect',
      'undone',
      'in_effect',
    ]);
  });

  it('stays whole when some of its files were edited since, and says which', async () => {
    const test = await threeFiles();
    await writeFile(join(test.root, 'b.txt'), 'mine');
    const details = { change_id: 'plan-1', target_file: 'b.txt', target_files: ['b.txt'] };
    await expect(test.workspace.undo({})).rejects.toMatchObject({
      code: 'TARGET_CHANGED',
      message: expect.stringContaining('"b.txt" was edited') as string,
      details,
    });
    await writeFile(join(test.root, 'new.txt'), 'mine');
    const both = await test.workspace.undo({}).catch((error: Error) => error);
    expect(both).toMatchObject({
      message: expect.stringMatching(/"(?:b|new).txt" and 1 other were edited/u) as string,
      details: { target_files: expect.arrayContaining(['b.txt', 'new.txt']) as string[] },
    });
    await writeFile(join(test.root, 'new.txt'), 'N');
    expect(await textsOf(test)).toEqual(['AA', 'mine', 'N']);
    expect(await readdir(join(test.root, '.orion/locks'))).toEqual([]);
  });

  it('goes on after an undo that came half-way', async () => {
    const test = await threeFiles();
    await writeFile(join(test.root, 'b.txt'), 'b');
    const report = await test.workspace.undo({ id: 'plan-1' });
    expect(report.files.map(({ outcome }) => outcome).toSorted()).toEqual([
      'removed',
      'restored',
      'unchanged',
    ]);
    expect(await textsOf(test)).toEqual(['a', 'b', null]);
  });

  it('can be taken back for one file alone', async () => {
    const test = await threeFiles();
    const [listed] = await Array.fromAsync(test.workspace.changes());
    const file = listed?.files.find(({ target_file }) => target_file === 'new.txt');
    await test.workspace.undo({ id: file?.backup_id ?? '' });
    expect(await textsOf(test)).toEqual(['AA', 'bB', null]);
    const [, plan] = await Array.fromAsync(test.workspace.changes());
    expect(plan?.status).toBe('in_effect');
    expect(plan?.files.filter(({ undone }) => undone)).toHaveLength(1);
  });
});

describe('what lies in the backups is not trusted', () => {
  it('a backup whose bytes are others restores nothing', async () => {
    const test = await openTestWorkspace();
    await writeFile(join(test.root, 'a.txt'), 'old');
    const id = await change(test.workspace, 'a.txt', 'overwrite', 'new');
    await writeFile(join(test.root, '.orion/backups', id, 'content'), 'OLD');
    expect(await codeOf(test.workspace.undo({ id }))).toBe('BACKUP_DAMAGED');
    await rm(join(test.root, '.orion/backups', id, 'content'));
    expect(await codeOf(test.workspace.undo({ id }))).toBe('BACKUP_DAMAGED');
    await symlink('/dev/zero', join(test.root, '.orion/backups', id, 'content'));
    expect(await codeOf(test.workspace.undo({ id }))).toBe('BACKUP_DAMAGED');
    expect(String(await bytesAt(test, 'a.txt'))).toBe('new');
    expect(await readdir(test.root)).toEqual(['.orion', 'a.txt']);
  });

  it('a manifest leads nowhere a write could not go', async () => {
    const test = await openTestWorkspace();
    await writeFile(join(test.root, 'a.txt'), 'old');
    const id = await change(test.workspace, 'a.txt', 'overwrite', 'new');
    const manifest = join(test.root, '.orion/backups', id, 'manifest.json');
    const good = await readFile(manifest, 'utf8');
    for (const [path, code] of [
      ['../a.txt', 'INVALID_TARGET'],
      ['/etc/hostname', 'INVALID_TARGET'],
      ['.git/hooks/pre-commit', 'PROTECTED_PATH'],
      ['.ORION/x', 'PROTECTED_PATH'],
    ] as const) {
      await writeFile(manifest, good.replace('"a.txt"', JSON.stringify(path)));
      expect(await codeOf(test.workspace.undo({ id, force: true }))).toBe(code);
    }
    for (const text of ['', '{}', 'null', '[1]', good.replace('"version":1', '"version":2')]) {
      await writeFile(manifest, text);
      expect(await codeOf(test.workspace.undo({ id }))).toBe('CHANGE_NOT_FOUND');
    }
  });

  it('a change that came with the folder is foreign: never the latest, and only by force', async () => {
    const keys = await temporaryDirectory();
    const theirs = await openTestWorkspace({ userKeyDirectory: await temporaryDirectory() });
    await writeFile(join(theirs.root, 'a.txt'), 'hostile');
    const id = await change(theirs.workspace, 'a.txt', 'overwrite', 'harmless');
    const mine = await theirs.again({ userKeyDirectory: keys });
    expect(await Array.fromAsync(mine.changes())).toMatchObject([{ change_id: id, foreign: true }]);
    expect(await codeOf(mine.undo({}))).toBe('CHANGE_NOT_FOUND');
    expect(await codeOf(mine.undo({ id }))).toBe('BACKUP_FOREIGN');
    expect(String(await bytesAt(theirs, 'a.txt'))).toBe('harmless');
    await theirs.clock.advance(1000);
    await mine.undo({ id, force: true });
    expect(String(await bytesAt(theirs, 'a.txt'))).toBe('hostile');
    expect((await Array.fromAsync(mine.changes()))[0]).toMatchObject({
      foreign: false,
      undoes: [id],
    });
  });
});

it('two undos of one change: one does it, and both leave the same bytes', async () => {
  const test = await openTestWorkspace();
  await writeFile(join(test.root, 'a.txt'), 'old');
  const id = await change(test.workspace, 'a.txt', 'overwrite', 'new');
  const others = await Promise.all([1, 2, 3, 4].map(() => test.again()));
  const outcomes = await Promise.all(
    others.map((workspace) =>
      workspace.undo({ id }).then(
        ({ files }) => files[0]?.outcome ?? 'none',
        (error: unknown) => (error instanceof Error && 'code' in error ? String(error.code) : ''),
      ),
    ),
  );
  expect(outcomes.filter((outcome) => outcome === 'restored')).toHaveLength(1);
  for (const outcome of outcomes) {
    expect(['restored', 'unchanged', 'TARGET_LOCKED']).toContain(outcome);
  }
  expect(String(await bytesAt(test, 'a.txt'))).toBe('old');
  expect(
    (await Array.fromAsync(test.workspace.changes())).filter(({ undoes }) => undoes.length > 0),
  ).toHaveLength(1);
});

it('a file that a session holds is not touched', async () => {
  const test = await openTestWorkspace();
  await writeFile(join(test.root, 'a.txt'), 'old');
  await change(test.workspace, 'a.txt', 'overwrite', 'new');
  const other = await test.again();
  const lock = await other.sessions.begin(await metadataFor(other, 'a.txt', 'overwrite'));
  expect(await codeOf(test.workspace.undo({}))).toBe('TARGET_LOCKED');
  await lock.release();
});

it('a disk that failed once does not keep the same process from trying again', async () => {
  const test = await openTestWorkspace();
  await writeFile(join(test.root, 'a.txt'), 'old');
  const id = await change(test.workspace, 'a.txt', 'overwrite', 'new');
  const disk = await interceptDisk();
  try {
    for (const name of ['open', 'link', 'write'] as const) {
      let struck = 0;
      disk.use((call) => {
        if (call.name !== name || !/\.orion\/locks/u.test(call.path) || struck > 0) return null;
        struck += 1;
        return { kind: 'error', code: 'EIO' };
      });
      expect(await codeOf(test.workspace.undo({ id }))).toBe('WRITE_FAILED');
      expect(struck, name).toBe(1);
      expect(String(await bytesAt(test, 'a.txt'))).toBe('new');
    }
  } finally {
    disk.restore();
  }
  await test.workspace.undo({ id });
  expect(String(await bytesAt(test, 'a.txt'))).toBe('old');
});

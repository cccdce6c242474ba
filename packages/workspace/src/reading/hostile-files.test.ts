/** Hazard: a file that came with a repository is no file, has no end, or leads elsewhere (B4). */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTestWorkspace, temporaryDirectory } from '../testing/temp-workspace.ts';
import { readForeignFile } from './foreign-file.ts';
import { MAX_IGNORE_BYTES } from './ignore-rules.ts';

const MAX = 1000;

describe('the one reader', () => {
  it.each<[string, (path: string) => void, string]>([
    ['a pipe', (path) => execFileSync('mkfifo', [path]), 'it is not a regular file'],
    ['a folder', (path) => mkdirSync(path), 'it is not a regular file'],
    ['a link to /dev/zero', (path) => symlinkSync('/dev/zero', path), 'it is a link'],
    ['a link to a file', (path) => symlinkSync('other', path), 'it is a link'],
    ['a file without an end', sparse, 'it has more than 1000 bytes'],
    [
      'one byte more',
      (path) => writeFileSync(path, 'x'.repeat(MAX + 1)),
      'it has more than 1000 bytes',
    ],
  ])('%s', async (_name, make, reason) => {
    const path = join(await temporaryDirectory(), 'file');
    writeFileSync(join(path, '..', 'other'), 'x');
    make(path);
    expect(await readForeignFile(path, MAX)).toEqual({ kind: 'refused', reason });
  });

  it.each([
    ['/dev/zero', 'it is a link that leads out of the workspace'],
    ['../outside', 'it is a link that leads out of the workspace'],
    ['pipe', 'it is not a regular file'],
    ['inside', null],
  ])('a link to %s, where links may be followed', async (target, reason) => {
    const root = await temporaryDirectory();
    const folder = join(root, 'workspace');
    mkdirSync(folder);
    writeFileSync(join(root, 'outside'), 'x');
    writeFileSync(join(folder, 'inside'), 'x');
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    symlinkSync(target, join(folder, 'file'));
    expect(await readForeignFile(join(folder, 'file'), MAX, folder)).toEqual(
      reason === null ? { kind: 'bytes', bytes: Buffer.from('x') } : { kind: 'refused', reason },
    );
  });

  it('a dangling link, a missing file, and one at the bound', async () => {
    const root = await temporaryDirectory();
    symlinkSync('nowhere', join(root, 'link'));
    writeFileSync(join(root, 'full'), 'x'.repeat(MAX));
    expect(await readForeignFile(join(root, 'link'), MAX, root)).toEqual({ kind: 'missing' });
    expect(await readForeignFile(join(root, 'none'), MAX)).toEqual({ kind: 'missing' });
    expect(await readForeignFile(join(root, 'full', 'x'), MAX)).toEqual({ kind: 'missing' });
    expect(await readForeignFile(join(root, 'full'), MAX)).toMatchObject({ kind: 'bytes' });
  });
});

function sparse(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, 10 * 1024 ** 3);
}

const LONG_LINE = `z${'?'.repeat(4094)}\n`;

describe('listFiles', () => {
  it('does not hang on a pattern of many stars, sixty folders deep', async () => {
    const { root, workspace } = await openTestWorkspace();
    const deep = join(root, 'a/'.repeat(60));
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, 'file'), '');
    writeFileSync(join(root, '.gitignore'), `${'a/**/'.repeat(12)}x\n`);
    const began = process.threadCpuUsage();
    const { files, refused } = await workspace.listFiles(10);
    const { user, system } = process.threadCpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(1000);
    expect(files).toEqual(['.gitignore', `${'a/'.repeat(60)}file`]);
    expect(refused).toEqual([]);
  });

  it('leaves out what is beyond its bounds, names it, and goes on', async () => {
    const { root, workspace } = await openTestWorkspace();
    for (const folder of ['pipe', 'large', 'long', 'good']) mkdirSync(join(root, folder));
    execFileSync('mkfifo', [join(root, 'pipe/.gitignore')]);
    sparse(join(root, 'large/.gitignore'));
    writeFileSync(join(root, 'long/.gitignore'), 'x'.repeat(5000));
    writeFileSync(join(root, 'good/.gitignore'), 'hidden\n');
    for (const folder of ['pipe', 'large', 'long', 'good']) {
      writeFileSync(join(root, folder, 'hidden'), '');
    }
    expect(await workspace.listFiles(20)).toEqual({
      files: [
        'good/.gitignore',
        'large/.gitignore',
        'large/hidden',
        'long/.gitignore',
        'long/hidden',
        'pipe/hidden',
      ],
      truncated: false,
      refused: [
        { path: 'large/.gitignore', reason: 'it has more than 262144 bytes' },
        { path: 'long/.gitignore', reason: 'it has a line of more than 4096 bytes' },
        { path: 'pipe/.gitignore', reason: 'it is not a regular file' },
      ],
    });
  });

  it('uses no more than 64 files for one path', async () => {
    const { root, workspace } = await openTestWorkspace();
    let folder = root;
    for (let depth = 0; depth <= 64; depth += 1) {
      writeFileSync(join(folder, '.gitignore'), '.gitignore\n');
      folder = join(folder, 'a');
      mkdirSync(folder);
    }
    const { files, refused } = await workspace.listFiles(20);
    // The ones above it say nothing of names below that they do not match.
    expect(files).toEqual([]);
    expect(refused).toEqual([
      { path: `${'a/'.repeat(64)}.gitignore`, reason: 'it lies under 64 others' },
    ]);
  });

  it('uses no more than 512 KiB of them for one path', async () => {
    const { root, workspace } = await openTestWorkspace();
    writeFileSync(join(root, 'hidden'), '');
    let folder = root;
    for (let depth = 0; depth < 3; depth += 1) {
      writeFileSync(join(folder, '.gitignore'), 'hidden\n'.padEnd(MAX_IGNORE_BYTES, LONG_LINE));
      folder = join(folder, 'a');
      mkdirSync(folder);
    }
    writeFileSync(join(folder, 'hidden'), '');
    const { files, refused } = await workspace.listFiles(20);
    expect(files).toEqual(['.gitignore', 'a/.gitignore', 'a/a/.gitignore']);
    expect(refused).toEqual([
      {
        path: 'a/a/.gitignore',
        reason: 'together with those above it, it has more than 524288 bytes',
      },
    ]);
  });

  it('stops reading them once that has taken too long', async () => {
    const { root, workspace } = await openTestWorkspace();
    for (let index = 0; index < 40; index += 1) {
      const folder = join(root, `f${String(index).padStart(2, '0')}`);
      mkdirSync(folder);
      writeFileSync(join(folder, '.gitignore'), 'hidden\n'.padEnd(MAX_IGNORE_BYTES, LONG_LINE));
      writeFileSync(join(folder, 'hidden'), '');
    }
    const { files, refused } = await workspace.listFiles(100);
    const shown = files.filter((path) => path.endsWith('hidden'));
    expect(shown).toHaveLength(17);
    expect(refused).toEqual([
      { path: 'f23/.gitignore', reason: 'reading its patterns takes too long' },
    ]);
  });

  it('gives up matching that takes too long, and says which file it was', async () => {
    const { root, workspace } = await openTestWorkspace();
    const pattern = `${'*a'.repeat(1000)}b\n`;
    writeFileSync(join(root, '.gitignore'), pattern.repeat(100));
    for (let index = 0; index < 10; index += 1) {
      writeFileSync(join(root, `${'a'.repeat(200)}${index}`), '');
    }
    const began = process.threadCpuUsage();
    const { files, refused } = await workspace.listFiles(20);
    const { user, system } = process.threadCpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(5000);
    expect(files).toHaveLength(11);
    expect(refused).toEqual([
      { path: '.gitignore', reason: 'matching its patterns takes too long' },
    ]);
  });
});

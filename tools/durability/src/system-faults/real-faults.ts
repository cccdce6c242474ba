/** Faults that the system itself makes: a tracer's, a full disk's, a limit's. What cannot be had is said. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { changeArguments, check, makeRoot, NEW, OLD, run, skip, targetIn } from './change-runs.ts';
import { powerCuts } from './power-cuts.ts';
import { tracedFaults } from './strace.ts';

export async function runRealFaults(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'orion-real-faults-'));
  try {
    const failures = [
      ...tracedFaults(folder),
      ...fullDisk(folder),
      ...readOnlyDisk(folder),
      ...shortWrites(folder),
      ...immutableTarget(folder),
      ...powerCuts(folder),
    ];
    for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
    return failures.length;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs a step with a small file system of its own mounted, where this machine lets it. */
function withMount(
  folder: string,
  name: string,
  options: string,
  step: (root: string) => readonly string[],
): readonly string[] {
  const root = join(folder, name);
  mkdirSync(root);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', root]).status !== 0) {
    return skip(`nothing can be mounted here: ${name}`);
  }
  try {
    return step(root);
  } finally {
    spawnSync('umount', [root]);
  }
}

function fullDisk(folder: string): readonly string[] {
  return withMount(folder, 'a full disk', 'size=256k', (root) => {
    writeFileSync(join(root, 'a.txt'), OLD);
    let ballast = 0;
    const ran: string[] = [];
    // From a disk with room for everything to one with room for nothing, a page at a time.
    for (let pages = 0; pages < 64; pages += 1) {
      try {
        writeFileSync(join(root, `ballast-${ballast}`), Buffer.alloc(4096));
        ballast += 1;
      } catch {
        // Full.
      }
      const { answer } = run(process.execPath, changeArguments(root, 'append', 'x'.repeat(8192)));
      ran.push(answer);
      const size = targetIn(root)?.length ?? 0;
      if ((size - OLD.length) % 8192 !== 0) return [`full disk: ${size} bytes after ${answer}`];
      if (answer.includes('DISK_FULL') && pages > 2) break;
    }
    const wasFull = ran.some((answer) => answer.includes('DISK_FULL'));
    process.stdout.write(`a full tmpfs: ${ran.length} commits, the last ${ran.at(-1)}\n`);
    if (!wasFull) return ['full disk: it never was'];
    for (let each = 0; each < ballast; each += 1) rmSync(join(root, `ballast-${each}`));
    rmSync(join(root, '.orion'), { recursive: true, force: true });
    const again = run(process.execPath, changeArguments(root, 'overwrite'));
    return targetIn(root) === NEW ? [] : [`full disk: retry: ${again.answer}`];
  });
}

function readOnlyDisk(folder: string): readonly string[] {
  return withMount(folder, 'a read-only disk', 'size=1m', (root) => {
    writeFileSync(join(root, 'a.txt'), OLD);
    spawnSync('mount', ['-o', 'remount,ro', root]);
    const ran = run(process.execPath, changeArguments(root, 'overwrite'));
    spawnSync('mount', ['-o', 'remount,rw', root]);
    process.stdout.write(`a read-only tmpfs: ${ran.answer}\n`);
    if (!ran.answer.includes('READ_ONLY')) return [`read-only disk: ${ran.answer}`];
    return check('read-only disk', root, 'overwrite', ran);
  });
}

function shortWrites(folder: string): readonly string[] {
  if (spawnSync('prlimit', ['--version']).status !== 0) {
    return skip('no prlimit, so no write falls short by a limit');
  }
  const root = makeRoot(folder, 'limit', 'overwrite');
  const ran = run('prlimit', [
    '--fsize=5000',
    process.execPath,
    ...changeArguments(root, 'overwrite', 'x'.repeat(10_000)),
  ]);
  process.stdout.write(`a file size limit: ${ran.answer}\n`);
  if (!ran.answer.includes('WRITE_FAILED')) return [`file size limit: ${ran.answer}`];
  return check('file size limit', root, 'overwrite', ran);
}

function immutableTarget(folder: string): readonly string[] {
  const root = makeRoot(folder, 'immutable', 'overwrite');
  const path = join(root, 'a.txt');
  if (spawnSync('chattr', ['+i', path]).status !== 0) {
    return skip('chattr +i is not possible here, so no target is immutable');
  }
  const ran = run(process.execPath, changeArguments(root, 'overwrite'));
  spawnSync('chattr', ['-i', path]);
  process.stdout.write(`an immutable target: ${ran.answer}\n`);
  if (!ran.answer.includes('PERMISSION_DENIED')) return [`immutable target: ${ran.answer}`];
  return check('immutable target', root, 'overwrite', ran);
}

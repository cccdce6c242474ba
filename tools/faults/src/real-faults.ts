/** Faults that the system itself makes: a tracer's, a full disk's, a limit's. What cannot be had is said. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { changeArguments, NEW, OLD, OPERATIONS, run, skip, targetIn } from './change-runs.ts';
import type { Operation, Ran } from './change-runs.ts';
import { powerCuts } from './power-cuts.ts';

const AFTER: Readonly<Record<Operation, string>> = {
  create: NEW,
  overwrite: NEW,
  append: OLD + NEW,
};

type Result = { readonly failed: number };

export async function runRealFaults(): Promise<Result> {
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
    return { failed: failures.length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeRoot(folder: string, name: string, operation: Operation): string {
  const root = join(folder, name);
  mkdirSync(root);
  if (operation !== 'create') writeFileSync(join(root, 'a.txt'), OLD);
  return root;
}

/** What is wrong with the workspace after a fault, and whether the same change then succeeds. */
function check(what: string, root: string, operation: Operation, ran: Ran): readonly string[] {
  const failures: string[] = [];
  const before = operation === 'create' ? null : OLD;
  const found = targetIn(root);
  const told = ran.answer.includes('"sha256"');
  if (found !== before && found !== AFTER[operation]) failures.push(`${what}: a torn target`);
  if (told && found !== AFTER[operation]) failures.push(`${what}: success told, but not written`);
  if (!told && !ran.answer.includes('"code"')) failures.push(`${what}: ${ran.answer}`);
  // Whatever a process leaves, the next one removes when it starts.
  if (temporariesIn(root).length > 0) run(process.execPath, changeArguments(root, 'start'));
  const left = temporariesIn(root);
  if (left.length > 0) failures.push(`${what}: left ${left.join(', ')}`);
  if (found === before && !told) {
    const again = run(process.execPath, changeArguments(root, operation));
    if (targetIn(root) !== AFTER[operation]) failures.push(`${what}: retry: ${again.answer}`);
  }
  return failures;
}

function temporariesIn(root: string): readonly string[] {
  return readdirSync(root).filter((name) => name.endsWith('.tmp'));
}

/**
 * Calls of the worker thread alone. Those that the main thread makes too (openat, close) would be hit there first,
 * since the tracer counts for each thread; they fail in the other half of this tool.
 */
const TRACED = 'pwrite64,fsync,rename,link,unlink,fchmod';
const FAULTS: Readonly<Record<string, readonly string[]>> = {
  pwrite64: ['ENOSPC', 'EIO', 'EDQUOT'],
  fsync: ['EIO', 'EDQUOT'],
  rename: ['EXDEV', 'EROFS', 'EPERM', 'EIO'],
  link: ['EIO', 'EXDEV', 'EPERM'],
  unlink: ['EIO'],
  fchmod: ['EPERM'],
};

function tracedFaults(folder: string): readonly string[] {
  if (!canTrace()) {
    return skip('strace may not be used here, so no system call is made to fail');
  }
  const failures: string[] = [];
  let injected = 0;
  for (const operation of OPERATIONS) {
    const probe = makeRoot(folder, `probe-${operation}`, operation);
    for (const { call, nth, line } of callsOf(folder, probe, operation)) {
      for (const fault of faultsOf(call, line)) {
        const root = makeRoot(folder, `traced-${injected}`, operation);
        const rule = fault.startsWith('retval') ? fault : `error=${fault}`;
        const log = join(folder, 'injected.log');
        const ran = run('strace', [
          '-f',
          '-o',
          log,
          '-e',
          `trace=${TRACED}`,
          '-e',
          `inject=${call}:${rule}:when=${nth}`,
          process.execPath,
          ...changeArguments(root, operation),
        ]);
        const what = `${operation}: ${call} ${nth} ${fault}`;
        if (!readFileSync(log, 'utf8').includes('(INJECTED)'))
          failures.push(`${what}: not reached`);
        injected += 1;
        failures.push(...check(what, root, operation, ran));
        rmSync(root, { recursive: true, force: true });
      }
    }
  }
  process.stdout.write(`${injected} faults by strace, ${failures.length} failed\n`);
  if (injected === 0) failures.push('strace found no call of a commit');
  return failures;
}

type TracedCall = { readonly call: string; readonly nth: number; readonly line: string };

/** The system accepts all bytes and writes none: only their number on the disk tells. */
const LOST_WRITE = `retval=${NEW.length}`;

function faultsOf(call: string, line: string): readonly string[] {
  const faults = FAULTS[call] ?? [];
  const isTarget = call === 'pwrite64' && /\.orion-[0-9a-f]{16}\.tmp>/u.test(line);
  return isTarget && line.includes(`"${NEW.replace('\n', '\\n')}"`)
    ? [...faults, LOST_WRITE]
    : faults;
}

/** The same calls, each of which is the last one that the process makes. */
export function tracedKills(): { readonly kills: number; readonly failures: readonly string[] } {
  if (!canTrace()) {
    skip('strace may not be used here, so no process is killed at a system call');
    return { kills: 0, failures: [] };
  }
  const folder = mkdtempSync(join(tmpdir(), 'orion-traced-kills-'));
  const failures: string[] = [];
  let kills = 0;
  for (const operation of OPERATIONS) {
    const probe = makeRoot(folder, `probe-${operation}`, operation);
    for (const { call, nth } of callsOf(folder, probe, operation)) {
      const root = makeRoot(folder, `killed-${kills}`, operation);
      const ran = run('strace', [
        '-f',
        '-o',
        '/dev/null',
        '-e',
        `trace=${TRACED}`,
        '-e',
        `inject=${call}:signal=SIGKILL:when=${nth}`,
        process.execPath,
        ...changeArguments(root, operation),
      ]);
      const what = `${operation}: killed at ${call} ${nth}`;
      kills += 1;
      if (ran.status === 0) failures.push(`${what}: it was not killed`);
      failures.push(...check(what, root, operation, { ...ran, answer: '{"code":"killed"}' }));
      rmSync(root, { recursive: true, force: true });
    }
  }
  rmSync(folder, { recursive: true, force: true });
  return { kills, failures };
}

function canTrace(): boolean {
  return spawnSync('strace', ['-e', 'trace=none', '--', 'true']).status === 0;
}

/** The calls of the commit, and which of its kind in its thread each of them is. */
function callsOf(folder: string, root: string, operation: Operation): readonly TracedCall[] {
  const log = join(folder, 'probe.log');
  run('strace', [
    '-f',
    '-y',
    '-o',
    log,
    '-e',
    `trace=${TRACED}`,
    process.execPath,
    ...changeArguments(root, operation),
  ]);
  const counts = new Map<string, number>();
  const calls: TracedCall[] = [];
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    const match = /^(\d+) +(\w+)\(/u.exec(line);
    if (match === null) continue;
    const [, thread = '', call = ''] = match;
    const nth = (counts.get(`${thread} ${call}`) ?? 0) + 1;
    counts.set(`${thread} ${call}`, nth);
    const isOfCommit = line.includes(root) || /\.orion-[0-9a-f]{16}\.tmp|\/a\.txt"/u.test(line);
    // A call that does not exist yet cannot be made to fail: another thread has as many of its kind.
    if (isOfCommit && !line.includes('ENOENT')) calls.push({ call, nth, line });
  }
  return calls;
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

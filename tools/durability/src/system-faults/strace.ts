/** System calls of a commit that a tracer makes fail, or that are the last ones of their process. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { changeArguments, check, makeRoot, NEW, OPERATIONS, run, skip } from './change-runs.ts';
import type { Operation, Ran } from './change-runs.ts';

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

export function tracedFaults(folder: string): readonly string[] {
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
        const inject = ['-e', `inject=${call}:${rule}:when=${nth}`];
        const ran = runTraced(log, root, operation, inject);
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

/** The system accepts all bytes and writes none: only their number on the disk shows it. */
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
      const inject = ['-e', `inject=${call}:signal=SIGKILL:when=${nth}`];
      const ran = runTraced('/dev/null', root, operation, inject);
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

function runTraced(
  log: string,
  root: string,
  operation: Operation,
  options: readonly string[],
): Ran {
  const command = [process.execPath, ...changeArguments(root, operation)];
  return run('strace', ['-f', '-o', log, '-e', `trace=${TRACED}`, ...options, ...command]);
}

/** The calls of the commit, and which of its kind in its thread each of them is. */
function callsOf(folder: string, root: string, operation: Operation): readonly TracedCall[] {
  const log = join(folder, 'probe.log');
  runTraced(log, root, operation, ['-y']);
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

/** Identifies this process and others. The only module that asks the system. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { promisify } from 'node:util';
import type { Clock } from '@orion/contracts';
import { isErrno } from '../disk/disk-error.ts';
import type { OwnerObservation, ProcessSighting } from './judge-owner.ts';
import type { OwnerRecord } from './owner-record.ts';

export type ProcessIdentity = {
  readonly pid: number;
  readonly host: string;
  readonly pidNamespace: string;
  readonly startedAt: string;
};

export type ProcessObserver = {
  identity(): Promise<ProcessIdentity>;
  /** A record of this process with a new token. */
  newOwner(): Promise<OwnerRecord>;
  observe(owner: OwnerRecord): Promise<OwnerObservation>;
};

/** Tests replace `identity` to act as other hosts. */
export function createProcessObserver(
  clock: Clock,
  identity: () => Promise<ProcessIdentity> = ownIdentity,
): ProcessObserver {
  let known: Promise<ProcessIdentity> | null = null;
  const here = (): Promise<ProcessIdentity> => {
    known ??= identity();
    return known;
  };
  return {
    identity: here,
    newOwner: async () => {
      const own = await here();
      return {
        version: 1,
        pid: own.pid,
        host: own.host,
        pid_namespace: own.pidNamespace,
        process_started_at: own.startedAt,
        token: randomBytes(16).toString('hex'),
        heartbeat_at: new Date(clock.now()).toISOString(),
      };
    },
    observe: async (owner) => {
      const own = await here();
      if (owner.host !== own.host || owner.pid_namespace !== own.pidNamespace) {
        return { kind: 'elsewhere', now: clock.now() };
      }
      return { kind: 'here', process: await sightProcess(owner.pid), now: clock.now() };
    },
  };
}

export async function ownIdentity(): Promise<ProcessIdentity> {
  const sighting = await sightProcess(process.pid);
  return {
    pid: process.pid,
    host: hostname(),
    pidNamespace: await readlink('/proc/self/ns/pid').catch(() => ''),
    startedAt: sighting.kind === 'running' ? sighting.startedAt : 'unknown',
  };
}

export async function sightProcess(pid: number): Promise<ProcessSighting> {
  if (process.platform === 'linux') {
    const sighting = await sightInProc(pid);
    if (sighting !== null) return sighting;
  }
  if (!isRunning(pid)) return { kind: 'gone' };
  const startedAt = await startFromPs(pid);
  return startedAt === null ? { kind: 'unknown' } : { kind: 'running', startedAt };
}

/** Null without `/proc`. */
async function sightInProc(pid: number): Promise<ProcessSighting | null> {
  let boot: string;
  try {
    boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  } catch {
    return null;
  }
  try {
    const sighting = parseProcStat(await readFile(`/proc/${pid}/stat`, 'utf8'));
    if (sighting === null) return { kind: 'gone' };
    return { kind: 'running', startedAt: `${boot}:${sighting}` };
  } catch (error) {
    return isErrno(error, 'ENOENT', 'ESRCH') ? { kind: 'gone' } : { kind: 'unknown' };
  }
}

/** Field 22, the start time in clock ticks since boot; null for a process that has ended. */
export function parseProcStat(text: string): string | null {
  // The second field is the command in parentheses, which may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0] ?? '';
  const startTime = fields[19];
  if (state === 'Z' || state === 'X' || startTime === undefined) return null;
  return startTime;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isErrno(error, 'EPERM');
  }
}

async function startFromPs(pid: number): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env: { LC_ALL: 'C', PATH: '/bin:/usr/bin' },
    });
    return stdout.trim() === '' ? null : stdout.trim();
  } catch {
    return null;
  }
}

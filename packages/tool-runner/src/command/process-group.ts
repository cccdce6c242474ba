import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';

import { sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { BoundedOutput } from './bounded-output.ts';
import type { CapturedOutput } from './bounded-output.ts';
import { guardGroup } from './group-guard.ts';
import { processesMarked, processesOfGroup } from './processes.ts';
import type { NamedProcess } from './processes.ts';

/** Between the request to end and the end that cannot be refused. */
const GRACE_MS = 2_000;
/** How often a group that was asked to end is looked at. */
const LOOK_MS = 20;
/** A pipe that is still open so long after its process has ended is held by another one. */
const DRAIN_MS = 200;

const MAX_ROUNDS = 20;

/** The name of the variable by which a process is known that has left its group. */
const MARK = 'ORION_COMMAND';

export type GroupRequest = {
  /** The program and its arguments. */
  readonly command: readonly [program: string, ...args: string[]];
  /** The program is a sandbox whose end takes everything inside with it: only what is inside is asked to end. */
  readonly isSandbox?: boolean;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Distinguishes the processes of this command from all others of this user. */
  readonly id: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Each piece of the output as it comes. */
  readonly onOutput?: (chunk: Uint8Array) => void;
};

export type GroupEnd = {
  /** Why it ended. */
  readonly reason: 'exited' | 'timeout' | 'aborted';
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /** Standard output and standard error, in the order in which they were written. */
  readonly output: CapturedOutput;
  /** Processes that were left running when the command had ended, and were ended. */
  readonly ended: readonly NamedProcess[];
};

/**
 * Runs a program in a session and process group of its own, with an empty standard input.
 *
 * 1. When it settles, no process of the group is alive, whatever the reason; nor, on Linux, one that has left the group
 *    and kept its environment.
 * 2. A process is asked to end by SIGTERM, and ended by SIGKILL two seconds later.
 * 3. Standard output and standard error are one pipe, so that their order is the one in which they were written.
 * 4. It rejects only if the program cannot be started. It does not start one for a signal that is aborted.
 * 5. If this process is killed meanwhile, the same processes are ended by SIGKILL.
 */
export async function runInGroup(request: GroupRequest): Promise<GroupEnd> {
  const { clock, signal } = request;
  const started = clock.monotonic();
  const output = new BoundedOutput(request.maxOutputBytes);
  if (signal.aborted) {
    const nothing = { exitCode: null, signal: null, durationMs: 0, ended: [] };
    return { reason: 'aborted', ...nothing, output: output.result() };
  }
  const mark = `${MARK}=${request.id}`;
  // The inner shell joins the two outputs before it becomes the program.
  const child = spawn('/bin/sh', ['-c', 'exec "$0" "$@" 2>&1', ...request.command], {
    cwd: request.cwd,
    env: { ...request.environment, [MARK]: request.id },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  // Without a free descriptor it has no streams; whatever it does comes after this.
  await once(child, 'spawn');
  const ended = new AbortController();
  const exit = new Promise<{ exitCode: number | null; signal: string | null }>((settle) => {
    child.once('exit', (exitCode, by) => {
      settle({ exitCode, signal: by });
      ended.abort();
    });
  });
  child.stdout.on('data', (chunk: Uint8Array) => {
    output.push(chunk);
    request.onOutput?.(chunk);
  });
  child.stdout.on('error', () => undefined);
  const group = child.pid;
  if (group === undefined) throw new Error('a process without a number');
  const guard = guardGroup(group, mark, request.environment['PATH']);

  const timeout = new AbortController();
  const cancelTimeout = clock.schedule(request.timeoutMs, () => timeout.abort());
  await untilAborted(signal, timeout.signal, ended.signal);
  cancelTimeout();
  const reason = ended.signal.aborted ? 'exited' : signal.aborted ? 'aborted' : 'timeout';
  if (reason !== 'exited') await endGroup(group, request);
  const end = await exit;

  // What the program has left behind holds the pipe open, or does not.
  if (!child.stdout.closed) await sleep(clock, DRAIN_MS, closing(child.stdout));
  const left = await processesOfGroup(group).catch(() => []);
  if (await hasMembers(group)) await endGroup(group, request);
  const escaped = await endMarked(mark, clock);
  guard.release();
  if (!child.stdout.closed) await sleep(clock, DRAIN_MS, closing(child.stdout));
  child.stdout.destroy();
  return {
    reason,
    ...end,
    durationMs: clock.monotonic() - started,
    output: output.result(),
    ended: [...new Map([...left, ...escaped].map((each) => [each.pid, each])).values()].filter(
      // The sandbox ends with what was inside; the command did not leave it.
      ({ name }) => request.isSandbox !== true || name !== basename(request.command[0]),
    ),
  };
}

/** Ends a group that `runInGroup` did not start, and what has left it; `mark` is a variable with its value. */
export async function endProcesses(group: number, mark: string, clock: Clock): Promise<void> {
  if (await hasMembers(group)) await endGroup(group, { clock });
  await endMarked(mark, clock);
}

/** Asks the processes of a group to end, and ends them if they do not. */
async function endGroup(
  group: number,
  { clock, isSandbox = false }: Pick<GroupRequest, 'clock' | 'isSandbox'>,
): Promise<void> {
  if (!isSandbox) kill(-group, 'SIGTERM');
  const asked = new Set([group]);
  const deadline = clock.monotonic() + GRACE_MS;
  for (;;) {
    // A sandbox that has just been started puts the command inside only after the first look.
    if (isSandbox) await askOthers(group, asked);
    if (!(await hasMembers(group)) || clock.monotonic() >= deadline) break;
    await sleep(clock, LOOK_MS);
  }
  kill(-group, 'SIGKILL');
}

/** Asks each member of the group to end that is not in `asked`, and puts it there. */
async function askOthers(group: number, asked: Set<number>): Promise<void> {
  for (const { pid } of await processesOfGroup(group).catch(() => [])) {
    if (!asked.has(pid)) kill(pid, 'SIGTERM');
    asked.add(pid);
  }
}

/**
 * Ends the processes that have left the group, and returns them. It looks twice, and again after each find: a process
 * that is just becoming another program has no environment for a moment, and one may start others while it is ended.
 * A look that fails is none.
 */
async function endMarked(mark: string, clock: Clock): Promise<readonly NamedProcess[]> {
  const found: NamedProcess[] = [];
  for (let rounds = 0, looks = 0; looks < 2 && rounds < MAX_ROUNDS; rounds += 1) {
    const marked = await processesMarked(mark).catch(() => null);
    for (const { pid } of marked ?? []) kill(pid, 'SIGKILL');
    found.push(...(marked ?? []));
    looks = marked?.length === 0 ? looks + 1 : 0;
    if (looks < 2) await sleep(clock, LOOK_MS);
  }
  return found;
}

/** A signal reaches zombies, too; where processes can be listed, those do not count. */
async function hasMembers(group: number): Promise<boolean> {
  if (process.platform !== 'linux') return kill(-group, 0);
  try {
    return (await processesOfGroup(group)).length > 0;
  } catch {
    return kill(-group, 0);
  }
}

/** Whether there was anything to send it to. */
function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

function untilAborted(...signals: readonly AbortSignal[]): Promise<void> {
  const any = AbortSignal.any([...signals]);
  return any.aborted
    ? Promise.resolve()
    : new Promise((settle) => any.addEventListener('abort', () => settle()));
}

/** Aborted when the stream is closed. */
function closing(stream: NodeJS.EventEmitter): AbortSignal {
  const closed = new AbortController();
  stream.once('close', () => closed.abort());
  return closed.signal;
}

import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';

import type { CommandContext } from '../process/context.ts';

export type Command = {
  readonly args: readonly string[];
  /** Lines of its stdout; without it, its stdout is ours. */
  readonly onLine?: (line: string) => void;
};

export type Ended = { readonly exitCode: number | null; readonly signal: NodeJS.Signals | null };

/** Starts this same command again, with nothing of the person's own settings. */
export type Processes = {
  start(command: Command): { readonly child: ChildProcess; readonly ended: Promise<Ended> };
  run(command: Command): Promise<Ended>;
  /** Ends every process that still runs. */
  endAll(): void;
};

/** What a Node process needs from outside; everything else could change what the demo shows. */
const KEPT_VARIABLES = [
  'PATH',
  'Path',
  'SystemRoot',
  'TMPDIR',
  'TEMP',
  'TMP',
  'LANG',
  'LC_ALL',
  'TERM',
  'NO_COLOR',
  'NODE_OPTIONS',
  'NODE_COMPILE_CACHE',
  'NODE_DISABLE_COMPILE_CACHE',
];

export function createProcesses(context: CommandContext, homeDirectory: string): Processes {
  const running = new Set<ChildProcess>();
  const environment: Record<string, string> = {
    HOME: homeDirectory,
    USERPROFILE: homeDirectory,
    XDG_CONFIG_HOME: homeDirectory,
  };
  for (const name of KEPT_VARIABLES) {
    const value = context.environment[name];
    if (value !== undefined) environment[name] = value;
  }

  function start(command: Command): ReturnType<Processes['start']> {
    const { args, onLine } = command;
    const child = spawn(process.execPath, [...process.execArgv, context.entry, ...args], {
      cwd: homeDirectory,
      env: environment,
      stdio: ['pipe', onLine === undefined ? 'inherit' : 'pipe', 'inherit'],
    });
    running.add(child);
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (exitCode, signal) => {
        running.delete(child);
        resolve({ exitCode, signal });
      });
    });
    // Whatever awaits it gets the error; after a kill nothing may be waiting yet.
    ended.catch(() => undefined);
    // A child that ended closes its stdin, which is not an error here.
    child.stdin?.on('error', () => undefined);
    if (child.stdout !== null && onLine !== undefined) {
      createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', onLine);
    }
    return { child, ended };
  }

  return {
    start,
    async run(command) {
      const { child, ended } = start(command);
      child.stdin?.end();
      return await ended;
    },
    endAll() {
      for (const child of running) child.kill('SIGKILL');
    },
  };
}

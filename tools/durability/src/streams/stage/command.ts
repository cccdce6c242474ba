import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';

import { collect } from '../../processes.ts';

export type Ended = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

export type RunningCommand = {
  readonly pid: number;
  readonly ended: Promise<Ended>;
};

export type CommandPlace = {
  /** The built command. */
  readonly main: string;
  /** A home folder of its own, so that no user's settings are read. */
  readonly home: string;
};

/** Starts the built command with the Node that runs this. */
export function startCommand(place: CommandPlace, args: readonly string[]): RunningCommand {
  const child = spawn(process.execPath, [place.main, ...args], {
    cwd: place.home,
    env: {
      PATH: process.env['PATH'],
      TMPDIR: process.env['TMPDIR'],
      HOME: place.home,
      XDG_CONFIG_HOME: place.home,
      NODE_COMPILE_CACHE: join(tmpdir(), 'orion-crash-compiled'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error('the command could not be started');
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  return {
    pid,
    ended: new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (exitCode, signal) =>
        resolve({ exitCode, signal, stdout: stdout(), stderr: stderr() }),
      );
    }),
  };
}

/** Longer than any command here takes on a slow machine. */
const LONGEST_RUN_MS = 60_000;

/** Runs a command to its end, or ends it when it hangs. */
export async function runCommand(place: CommandPlace, args: readonly string[]): Promise<Ended> {
  const command = startCommand(place, args);
  const timer = setTimeout(() => process.kill(command.pid, 'SIGKILL'), LONGEST_RUN_MS);
  try {
    return await command.ended;
  } finally {
    clearTimeout(timer);
  }
}

import { spawn } from 'node:child_process';

import type { RunEvent, WriteReceipt, PausedSession, Usage } from '@orion/contracts';

import { commandEntry } from './entry.ts';
import { waitFor } from './wait.ts';

/** The last line of `--json`. */
export type ResultLine = {
  readonly type: 'result';
  readonly version: number;
  readonly status: string;
  readonly exitCode: number;
  readonly requestId: string | null;
  readonly receipts: readonly WriteReceipt[];
  readonly paused: readonly PausedSession[];
  readonly usage: Usage;
  readonly notStored?: {
    readonly turnEvents: number;
    readonly conversations: number;
    readonly traceEvents: number;
    readonly spans: number;
  };
};

/** A command that has ended. */
export type Finished = {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Of a `--json` run. Throws when stdout holds anything but lines of JSON, the last one being the result. */
  events(): readonly RunEvent[];
  result(): ResultLine;
};

/** A command that runs. */
export type Running = {
  readonly pid: number;
  readonly finished: Promise<Finished>;
  stdout(): string;
  stderr(): string;
  /** The events so far of a `--json` run. */
  events(): readonly RunEvent[];
  waitForEvent(what: string, fits: (event: RunEvent) => boolean): Promise<RunEvent>;
  waitForStderr(text: string): Promise<string>;
  kill(signal: NodeJS.Signals): void;
};

export type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  /** What is piped in; without it stdin is empty. */
  readonly stdin?: string;
  readonly cwd?: string;
  /** Another Node than the one that runs the tests. */
  readonly node?: string;
  /** What the command is started by: a program that becomes the command, with its arguments. */
  readonly by?: readonly string[];
  /** It runs for as long as its test: no end of it is missed. */
  readonly isServer?: boolean;
  /** Closes the reading end of stdout at once, as `| head` does. */
  readonly closesStdout?: boolean;
};

const LIMIT_MS = 40_000;

export function startCommand(
  args: readonly string[],
  options: RunOptions & {
    readonly cwd: string;
    readonly environment: Readonly<Record<string, string>>;
  },
): Running {
  const { by = [], node = process.execPath } = options;
  const [program = node, ...words] = [...by, node, ...commandEntry(), ...args];
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: { ...options.environment, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  if (options.closesStdout === true) child.stdout.destroy();
  // A command that has ended does not read what was piped in.
  child.stdin.on('error', () => undefined).end(options.stdin ?? '');

  const finished = new Promise<Finished>((resolve, reject) => {
    const overdue = (): void => {
      child.kill('SIGKILL');
      reject(
        new Error(`\`orion ${args.join(' ')}\` did not end.\nstdout: ${stdout}\nstderr: ${stderr}`),
      );
    };
    const limit = options.isServer === true ? undefined : setTimeout(overdue, LIMIT_MS);
    child.on('error', (error) => {
      clearTimeout(limit);
      reject(error);
    });
    child.on('close', (exitCode, signal) => {
      clearTimeout(limit);
      resolve({
        exitCode,
        signal,
        stdout,
        stderr,
        events: () => parseLines(stdout, stderr).events,
        result: () => parseLines(stdout, stderr).result,
      });
    });
  });
  // Whoever kills a command need not wait for it too.
  finished.catch(() => undefined);

  return {
    pid: child.pid ?? 0,
    finished,
    stdout: () => stdout,
    stderr: () => stderr,
    events: () => completeLines(stdout),
    waitForEvent: (what, fits) =>
      waitFor(what, () => {
        const event = completeLines(stdout).find(fits);
        if (event === undefined && child.exitCode !== null) {
          throw new Error(`the command ended before ${what}.\n${stdout}\n${stderr}`);
        }
        return event;
      }),
    waitForStderr: (text) =>
      waitFor(`${JSON.stringify(text)} on stderr`, () => {
        if (stderr.includes(text)) return stderr;
        if (child.exitCode !== null) throw new Error(`the command ended.\n${stdout}\n${stderr}`);
        return null;
      }),
    kill: (signal) => void child.kill(signal),
  };
}

function completeLines(stdout: string): readonly RunEvent[] {
  return stdout
    .slice(0, stdout.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as RunEvent);
}

function parseLines(
  stdout: string,
  stderr: string,
): { readonly events: readonly RunEvent[]; readonly result: ResultLine } {
  if (!stdout.endsWith('\n')) {
    throw new Error(`stdout does not end with a line.\nstdout: ${stdout}\nstderr: ${stderr}`);
  }
  const values = stdout
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as RunEvent | ResultLine);
  const result = values.at(-1);
  if (result?.type !== 'result') throw new Error(`the last line is no result:\n${stdout}`);
  return { events: values.slice(0, -1) as RunEvent[], result };
}

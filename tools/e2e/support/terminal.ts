import * as pty from '@lydell/node-pty';

import { commandEntry } from './entry.ts';
import { waitFor } from './wait.ts';

/** A command on a pseudo-terminal: what it prints arrives as a person's terminal receives it. */
export type Terminal = {
  readonly pid: number;
  readonly finished: Promise<{ readonly exitCode: number; readonly output: string }>;
  output(): string;
  /** Waits until the text was printed so many times; once when left out. */
  waitForOutput(text: string, times?: number): Promise<string>;
  type(text: string): void;
  /** Stops reading what the command prints, as after Ctrl-S, until `resume`. */
  pause(): void;
  resume(): void;
  kill(signal: NodeJS.Signals): void;
};

const LIMIT_MS = 40_000;

export function startOnTerminal(
  args: readonly string[],
  options: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> },
): Terminal {
  const child = pty.spawn(process.execPath, [...commandEntry(), ...args], {
    name: 'xterm-256color',
    cols: 120,
    rows: 30,
    cwd: options.cwd,
    env: { ...options.environment, TERM: 'xterm-256color' },
  });
  let output = '';
  let ended = false;
  child.onData((text) => {
    output += text;
  });
  const finished = new Promise<{ readonly exitCode: number; readonly output: string }>(
    (resolve, reject) => {
      const limit = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`\`orion ${args.join(' ')}\` did not end.\n${output}`));
      }, LIMIT_MS);
      child.onExit(({ exitCode }) => {
        ended = true;
        clearTimeout(limit);
        resolve({ exitCode, output });
      });
    },
  );
  finished.catch(() => undefined);
  return {
    pid: child.pid,
    finished,
    output: () => output,
    waitForOutput: (text, times = 1) =>
      waitFor(`${JSON.stringify(text)} on the terminal`, () => {
        if (output.split(text).length > times) return output;
        if (ended) throw new Error(`the command ended without ${JSON.stringify(text)}:\n${output}`);
        return null;
      }),
    type: (text) => {
      child.write(text);
    },
    pause: () => {
      child.pause();
    },
    resume: () => {
      child.resume();
    },
    kill: (signal) => {
      if (!ended) child.kill(signal);
    },
  };
}

import * as pty from '@lydell/node-pty';

import { createEmulator, type Emulator, type Screen } from './emulator.ts';
import { waitFor } from './wait.ts';

/** A program on a pseudo-terminal: what it prints arrives as a person's terminal receives it. */
export type Terminal = {
  readonly pid: number;
  readonly finished: Promise<{ readonly exitCode: number; readonly output: string }>;
  /** Every byte so far. */
  output(): string;
  /** Waits until the text was printed so many times; once when left out. */
  waitForOutput(text: string, times?: number): Promise<string>;
  /** What a person sees now. */
  screen(): Promise<Screen>;
  /** Waits until the visible rows have this text, or the screen is as wanted. */
  waitForScreen(wanted: string | RegExp | ((screen: Screen) => boolean)): Promise<Screen>;
  emulator(): Emulator;
  type(text: string): void;
  resize(columns: number, rows: number): void;
  /** Stops reading what the program prints, as after Ctrl-S, until `resume`. */
  pause(): void;
  resume(): void;
  kill(signal: NodeJS.Signals): void;
};

export type TerminalOptions = {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  /** Lines that are on the screen already, as a shell has left them. */
  readonly above?: readonly string[];
};

const LIMIT_MS = 40_000;

export function startOnTerminal(
  [program, ...args]: readonly [string, ...string[]],
  { cwd, environment, columns = 120, rows = 30, above = [] }: TerminalOptions,
): Terminal {
  const child = pty.spawn(program, args, {
    // Sets TERM.
    name: environment['TERM'] ?? 'xterm-256color',
    cols: columns,
    rows,
    cwd,
    env: environment,
  });
  const emulated = emulateLater(columns, rows);
  if (above.length > 0) emulated.write(`${above.join('\r\n')}\r\n`);
  let output = '';
  let ended = false;
  child.onData((text) => {
    output += text;
    emulated.write(text);
  });
  const finished = new Promise<{ readonly exitCode: number; readonly output: string }>(
    (resolve, reject) => {
      const limit = setTimeout(() => {
        child.kill('SIGKILL');
        reject(new Error(`\`${[program, ...args].join(' ')}\` did not end.\n${output}`));
      }, LIMIT_MS);
      child.onExit(({ exitCode }) => {
        ended = true;
        clearTimeout(limit);
        resolve({ exitCode, output });
      });
    },
  );
  finished.catch(() => undefined);
  const screen = (): Promise<Screen> => emulated.emulator().screen();
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
    screen,
    async waitForScreen(wanted) {
      const isWanted = (now: Screen): boolean => {
        if (typeof wanted === 'function') return wanted(now);
        const text = now.rows.join('\n');
        return typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text);
      };
      let last: Screen | null = null;
      try {
        return await waitFor('the screen', async () => {
          last = await screen();
          if (isWanted(last)) return last;
          if (ended) throw new Error('the program has ended');
          return null;
        });
      } catch (error) {
        const rowsNow = (last as Screen | null)?.rows.join('\n') ?? '';
        throw new Error(`${String(error)}; wanted ${String(wanted)} on\n${rowsNow}`, {
          cause: error,
        });
      }
    },
    emulator: () => emulated.emulator(),
    type: (text) => {
      child.write(text);
    },
    resize(newColumns, newRows) {
      emulated.resize(newColumns, newRows);
      child.resize(newColumns, newRows);
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

/** Most tests look at the bytes alone: the emulator gets all of it when it is first asked. */
function emulateLater(
  columns: number,
  rows: number,
): Pick<Emulator, 'write' | 'resize'> & { emulator(): Emulator } {
  let waiting: ((emulator: Emulator) => void)[] = [];
  let made: Emulator | null = null;
  const withEmulator = (use: (emulator: Emulator) => void): void => {
    if (made === null) waiting.push(use);
    else use(made);
  };
  return {
    write: (data) => withEmulator((emulator) => emulator.write(data)),
    resize: (newColumns, newRows) => withEmulator((each) => each.resize(newColumns, newRows)),
    emulator() {
      if (made !== null) return made;
      const emulator = createEmulator(columns, rows);
      made = emulator;
      for (const use of waiting) use(emulator);
      waiting = [];
      return emulator;
    },
  };
}

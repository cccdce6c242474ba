import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

import { readKeys } from './line-editor.ts';

/** The terminal as a source of keys: taken, lent to others, and given back. */
export type RawTerminal = {
  lend(use: () => Promise<void>): Promise<void>;
  /** Ctrl-Z: stops the processes of this job until the shell continues them. */
  suspend(): void;
  close(): Promise<void>;
};

export type RawTerminalOptions = {
  readonly stdin: NodeJS.ReadStream;
  readonly onKey: (key: string) => void;
  readonly onPaste: (text: string) => void;
  readonly onEnd: () => void;
  /** Puts on the screen what is ours. */
  readonly enter: () => void;
  /** Takes it away. Its first part is done at once. */
  readonly leave: () => Promise<void>;
  /** What is on the screen is not known any more. */
  readonly forget: () => void;
};

export function takeTerminal(options: RawTerminalOptions): RawTerminal {
  const { stdin, onKey, onPaste, onEnd } = options;
  const keys = readKeys(onKey, onPaste);
  /** What was typed until the terminal was taken: it has made a line feed of Enter, as it does for lines. */
  let typedBefore = false;
  const onData = (data: string): void =>
    keys.push(typedBefore ? data.replaceAll('\n', '\r') : data);
  let taken = false;
  /** By us, in order. */
  let stopped = false;

  function enter(): void {
    if (taken) return;
    taken = true;
    stdin.setRawMode(true);
    stdin.on('data', onData).resume();
    void readTypedBefore();
    options.enter();
  }

  async function readTypedBefore(): Promise<void> {
    typedBefore = true;
    // The terminal has it ready: it is read in the next turn of the loop.
    await turnOfTheLoop();
    await turnOfTheLoop();
    typedBefore = false;
  }

  async function leave(): Promise<void> {
    if (!taken) return;
    taken = false;
    stdin.off('data', onData).pause();
    await options.leave();
    stdin.setRawMode(false);
  }

  function suspend(): void {
    const wasTaken = taken;
    void leave().then(() => {
      // What it is lent to may stop this job, too, and goes on with it.
      stopped ||= wasTaken;
      process.kill(0, 'SIGSTOP');
    });
  }

  function onContinue(): void {
    if (stopped) {
      stopped = false;
      enter();
    } else if (taken) {
      // The shell has used the terminal meanwhile, in a mode of its own.
      stdin.setRawMode(false).setRawMode(true);
      options.forget();
    }
  }

  /** The last resort, where nothing was closed: what can be written at once. Node itself gives the keys back. */
  function onExit(): void {
    if (taken) void options.leave();
  }

  stdin.setEncoding('utf8').on('end', onEnd).on('error', onEnd);
  process.on('SIGTSTP', suspend).on('SIGCONT', onContinue).on('exit', onExit);
  enter();
  return {
    async lend(use) {
      await leave();
      try {
        await use();
      } finally {
        enter();
      }
    },
    suspend,
    async close() {
      process.off('SIGTSTP', suspend).off('SIGCONT', onContinue);
      await leave();
      process.off('exit', onExit);
      stdin.off('end', onEnd).off('error', onEnd);
      keys.end();
    },
  };
}

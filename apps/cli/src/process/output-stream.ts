/** One of the process's two outputs, written to at the speed of its reader. */
export type OutputStream = {
  readonly isTerminal: boolean;
  /** Characters in a line of the terminal, or a usual number where there is none. */
  columns(): number;
  /** Writes; the returned promise, if any, is to be awaited before more is written. Never fails. */
  write(data: string | Uint8Array): Promise<void> | undefined;
  /** From now on nobody waits for the reader before `flush`: a command that ends has little left to write. */
  hurry(): void;
  /** Waits until the operating system has everything. */
  flush(): Promise<void>;
  /** Why text was lost, or null. A reader that went away is no failure: it had enough. */
  failure(): Error | null;
};

const READER_IS_GONE = new Set(['EPIPE', 'EIO', 'ECONNRESET', 'ERR_STREAM_DESTROYED']);

export function openOutputStream(stream: NodeJS.WriteStream): OutputStream {
  let broken: Error | null = null;
  let drained: Promise<void> | undefined;
  let endWait: (() => void) | undefined;
  let hurried = false;
  stream.on('error', (error) => {
    broken ??= error;
  });

  function waitForDrain(): Promise<void> {
    drained ??= new Promise<void>((resolve) => {
      const done = (): void => {
        stream.off('drain', done).off('error', done).off('close', done);
        drained = undefined;
        endWait = undefined;
        resolve();
      };
      endWait = done;
      stream.on('drain', done).on('error', done).on('close', done);
    });
    return drained;
  }

  return {
    isTerminal: stream.isTTY === true,
    columns: () => (stream.isTTY === true && stream.columns > 0 ? stream.columns : 80),
    write(data) {
      if (broken !== null || stream.destroyed) return undefined;
      return stream.write(data) || hurried ? undefined : waitForDrain();
    },
    hurry() {
      hurried = true;
      endWait?.();
    },
    flush() {
      if (broken !== null || stream.destroyed) return Promise.resolve();
      return new Promise((resolve) => {
        stream.write('', () => {
          resolve();
        });
      });
    },
    failure: () =>
      broken !== null && !READER_IS_GONE.has((broken as NodeJS.ErrnoException).code ?? '')
        ? broken
        : null,
  };
}

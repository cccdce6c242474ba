import type { TerminalQueue } from './terminal-queue.ts';

/** One of the process's two outputs, written to at the speed of its reader. */
export type OutputStream = {
  readonly isTerminal: boolean;
  /** Characters in a line of the terminal, or a usual number where there is none. */
  columns(): number;
  /** Lines on the screen of the terminal, or a usual number where there is none. */
  rows(): number;
  /** Calls when the terminal gets another size; the returned function ends that. */
  onResize(listener: () => void): () => void;
  /** Writes; the returned promise, if any, is to be awaited before more is written. Never fails. */
  write(data: string | Uint8Array): Promise<void> | undefined;
  /**
   * Writes what must delay nothing: a terminal that does not read is not waited for, and in the end lines of it are left
   * out (T3). Anything else has it as by `write`.
   */
  offer(data: string): Promise<void> | undefined;
  /** Offers progress, of which the next one takes the place. */
  offerFrame(data: string): void;
  /** From now on only `flush` waits for the reader: a command that ends has little left to write. */
  hurry(): void;
  /** Waits until the operating system has everything. */
  flush(): Promise<void>;
  /** Why text was lost, or null. A reader that went away is not a failure: it had enough. */
  failure(): Error | null;
};

type Sized = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'rows' | 'on' | 'off'>;

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

  function write(data: string | Uint8Array): Promise<void> | undefined {
    if (broken !== null || stream.destroyed) return undefined;
    return stream.write(data) || hurried ? undefined : waitForDrain();
  }

  return {
    isTerminal: stream.isTTY === true,
    ...sizeOf(stream),
    write,
    offer: write,
    offerFrame: (data) => void write(data),
    hurry() {
      hurried = true;
      endWait?.();
    },
    flush() {
      if (broken !== null || stream.destroyed) return Promise.resolve();
      return new Promise((resolve) => {
        stream.write('', () => resolve());
      });
    },
    failure: () => failureOf(broken),
  };
}

/** The same for a terminal, through a queue that never blocks. `stream` is asked for its size alone. */
export function openTerminalStream(stream: Sized, queue: TerminalQueue): OutputStream {
  let endWait: (() => void) | undefined;
  let hurried = false;

  function waitForQueue(): Promise<void> {
    return Promise.race([
      queue.drained(),
      new Promise<void>((resolve) => {
        endWait = resolve;
      }),
    ]);
  }

  return {
    isTerminal: true,
    ...sizeOf(stream),
    write: (data) => (queue.write(data) && !hurried ? waitForQueue() : undefined),
    offer(data) {
      queue.offer(data);
      return undefined;
    },
    offerFrame: (data) => queue.offerFrame(data),
    hurry() {
      hurried = true;
      endWait?.();
    },
    flush: () => queue.drained(),
    failure: () => failureOf(queue.failure()),
  };
}

function sizeOf(stream: Sized): Pick<OutputStream, 'columns' | 'rows' | 'onResize'> {
  const sized = (count: number, usual: number): number =>
    stream.isTTY === true && count > 0 ? count : usual;
  return {
    columns: () => sized(stream.columns, 80),
    rows: () => sized(stream.rows, 24),
    onResize(listener) {
      stream.on('resize', listener);
      return () => void stream.off('resize', listener);
    },
  };
}

function failureOf(error: Error | null): Error | null {
  if (error === null) return null;
  return READER_IS_GONE.has((error as NodeJS.ErrnoException).code ?? '') ? null : error;
}

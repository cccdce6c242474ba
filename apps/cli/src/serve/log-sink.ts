import type { OutputStream } from '../process/output-stream.ts';

/** What may wait for the reader of the log. */
const MAX_WAITING = 1024 * 1024;

/**
 * Takes the lines of a server's log, and never waits. A reader that does not read costs memory up to a limit; lines beyond
 * it are left out, and a line says how many.
 */
export function createLogSink(stderr: Pick<OutputStream, 'offer'>): {
  readonly write: (line: string) => void;
} {
  /** Characters that wait; null while the reader keeps up. */
  let waiting: number | null = null;
  let leftOut = 0;

  function write(line: string): void {
    if (waiting !== null && waiting + line.length > MAX_WAITING) {
      leftOut += 1;
      return;
    }
    const wait = stderr.offer(line);
    if (waiting !== null) waiting += line.length;
    else if (wait !== undefined) {
      waiting = line.length;
      void wait.then(catchUp);
    }
  }

  function catchUp(): void {
    waiting = null;
    const lines = leftOut;
    leftOut = 0;
    if (lines > 0) write(`${JSON.stringify({ level: 40, leftOut: lines, msg: 'log left out' })}\n`);
  }

  return { write };
}

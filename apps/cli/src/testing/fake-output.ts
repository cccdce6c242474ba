import type { OutputStream } from '../process/output-stream.ts';

/** An output that keeps what was written. */
export type FakeOutput = OutputStream & { written(): string };

export function createFakeOutput(
  options: { terminal?: boolean; columns?: number; rows?: number } = {},
): FakeOutput {
  let text = '';
  function write(data: string | Uint8Array): undefined {
    text += typeof data === 'string' ? data : Buffer.from(data).toString();
  }
  return {
    isTerminal: options.terminal === true,
    columns: () => options.columns ?? 80,
    rows: () => options.rows ?? 24,
    onResize: () => () => undefined,
    write,
    offer: write,
    offerFrame: write,
    hurry: () => undefined,
    flush: () => Promise.resolve(),
    failure: () => null,
    written: () => text,
  };
}

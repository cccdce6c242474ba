import type { OutputStream } from '../process/output-stream.ts';

/** An output that keeps what was written. */
export type FakeOutput = OutputStream & { written(): string };

export function createFakeOutput(
  options: { terminal?: boolean; columns?: number } = {},
): FakeOutput {
  let text = '';
  return {
    isTerminal: options.terminal === true,
    columns: () => options.columns ?? 80,
    write(data) {
      text += typeof data === 'string' ? data : Buffer.from(data).toString();
      return undefined;
    },
    hurry: () => undefined,
    flush: () => Promise.resolve(),
    failure: () => null,
    written: () => text,
  };
}

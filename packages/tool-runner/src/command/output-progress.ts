import type { Clock, ToolProgress } from '@orion/contracts';

import { formatBytes } from '../format-bytes.ts';

const INTERVAL_MS = 1_000;
/** Of the end of the output. */
const KEPT_BYTES = 4_096;

export type OutputProgress = {
  push(chunk: Uint8Array): void;
  end(): void;
};

/**
 * Reports once a second how long a command has been running, how much it has printed, and the latest line of that; the
 * command itself while there is none. The cost of a piece of output does not depend on its length.
 *
 * Only whole lines are reported, and they are not cut: a part of a key could not be redacted.
 */
export function reportOutput(
  command: string,
  clock: Clock,
  report: (progress: ToolProgress) => void,
): OutputProgress {
  const started = clock.monotonic();
  let kept = Buffer.alloc(0);
  let bytes = 0;
  let cancel = clock.schedule(INTERVAL_MS, tick);

  function tick(): void {
    cancel = clock.schedule(INTERVAL_MS, tick);
    const seconds = Math.round((clock.monotonic() - started) / 1_000);
    const printed = bytes === 0 ? '' : `, ${formatBytes(bytes)}`;
    const line = latestLine(kept, bytes > kept.length) ?? command;
    report({ message: `${seconds} s${printed}: ${line}` });
  }

  return {
    push(chunk) {
      bytes += chunk.length;
      kept = Buffer.concat([kept, chunk.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
    },
    end: () => cancel(),
  };
}

/** The last line that has ended and is not blank. The first one is left out where its beginning is missing. */
function latestLine(bytes: Buffer, isCut: boolean): string | undefined {
  const lines = bytes.toString('utf8').split(/[\r\n]/u);
  return lines.slice(isCut ? 1 : 0, -1).findLast((line) => line.trim() !== '');
}

import type { RelayedConnection } from '../stage/relay.ts';
import { readSocketTable, unreadBytes } from './socket-queues.ts';
import { watchStalls } from './stalls.ts';

/** What was known at one time about a process and what it reads. */
export type Sample = {
  readonly at: number;
  /** Of each connection, in the order in which they were made, the bytes that the process had read. */
  readonly readBytes: readonly number[];
  /** Time without a processor or a disk, since the first look. */
  readonly stalledMs: number;
};

/** Looks again and again at how far a process has read. */
export type Sampler = {
  readonly samples: readonly Sample[];
  take(): void;
  stop(): void;
};

const SAMPLE_EVERY_MS = 8;

export function startSampler(
  pid: number,
  relayPort: number,
  connections: () => readonly RelayedConnection[],
): Sampler {
  const samples: Sample[] = [];
  const stalls = watchStalls(pid, SAMPLE_EVERY_MS);
  function take(): void {
    const at = performance.now();
    const table = readSocketTable();
    const readBytes = connections().map((connection) => {
      const sent = connection.sends.at(-1)?.bytes ?? 0;
      const inKernel =
        table === undefined ? 0 : unreadBytes(table, relayPort, connection.remotePort);
      return Math.max(0, sent - connection.queued() - inKernel);
    });
    samples.push({ at, readBytes, stalledMs: stalls.read(at) });
  }
  const timer = setInterval(take, SAMPLE_EVERY_MS);
  return { samples, take, stop: () => clearInterval(timer) };
}

/**
 * The samples with what was certainly not read taken out: bytes that were still unread later were unread before,
 * even where the kernel's table, which shows both ends at slightly different times, says otherwise.
 */
export function withoutGuesses(samples: readonly Sample[]): readonly Sample[] {
  const least: number[] = [];
  return samples
    .toReversed()
    .map((sample) => ({
      ...sample,
      readBytes: sample.readBytes.map((bytes, connection) => {
        const lowest = Math.min(bytes, least[connection] ?? Number.POSITIVE_INFINITY);
        least[connection] = lowest;
        return lowest;
      }),
    }))
    .toReversed();
}

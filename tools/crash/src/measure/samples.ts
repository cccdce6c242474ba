import type { RelayedConnection } from '../stage/relay.ts';
import { watchRunDelay } from './run-delay.ts';
import { unreadBytes } from './socket-queues.ts';

/** What was known at one time about a connection and the process that reads it. */
export type Sample = {
  readonly at: number;
  /** The latest one, from 0; -1 before the first. */
  readonly connection: number;
  /** Bytes of that connection that the process had read. */
  readonly readBytes: number;
  readonly runDelayMs: number;
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
  const runDelay = watchRunDelay(pid);
  function take(): void {
    const all = connections();
    const connection = all.at(-1);
    const sent = connection?.sends.at(-1)?.bytes ?? 0;
    const unread =
      connection === undefined
        ? 0
        : connection.queued() + (unreadBytes(relayPort, connection.remotePort) ?? 0);
    const at = performance.now();
    samples.push({
      at,
      connection: all.length - 1,
      readBytes: Math.max(0, sent - unread),
      runDelayMs: runDelay.read(at),
    });
  }
  const timer = setInterval(take, SAMPLE_EVERY_MS);
  return { samples, take, stop: () => clearInterval(timer) };
}

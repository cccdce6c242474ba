import { monitorEventLoopDelay } from 'node:perf_hooks';

import type { Orion } from '@orion/agent';
import type { Clock, RunEvent } from '@orion/contracts';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

import type { EventStreams } from '../sse/event-streams.ts';
import type { SessionCounts } from './session-counts.ts';
import { RESOLUTION_MS } from './event-loop-delay.ts';
import { countTurns } from './turn-metrics.ts';
import type { TurnCounts } from './turn-metrics.ts';
import { withinUnlessDefect } from './within.ts';

/** What Prometheus reads of this process. While the store does not answer, only the values that it has are missing. */
export type Metrics = {
  readonly contentType: string;
  text(): Promise<string>;
  /** `route` is the pattern of a route: a path would make a series for each id. */
  request(facts: { method: string; route: string; status: number; ms: number }): void;
  /** An event of a turn that runs here. */
  turn(event: RunEvent): void;
  close(): void;
};

export type MetricsOptions = {
  readonly clock: Clock;
  readonly processName: string;
  readonly workspaces: readonly Pick<Orion, 'notStored' | 'countSessionBytes'>[];
  readonly sessions: () => Promise<SessionCounts>;
  readonly requestsInProgress: () => number;
  readonly connections: () => Promise<number>;
  readonly streams: Pick<EventStreams, 'open' | 'buffered' | 'stalled'>;
  readonly turns: TurnCounts;
};

const NANOSECONDS = 1e9;
const QUANTILES = [0.5, 0.99, 1];

export function createMetrics(options: MetricsOptions): Metrics {
  const { workspaces, clock } = options;
  const registry = new Registry();
  registry.setDefaultLabels({ process: options.processName });
  const registers = [registry];
  const requests = new Counter({
    name: 'orion_http_requests_total',
    help: 'Requests that were answered or broken off.',
    labelNames: ['method', 'route', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'orion_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['route'],
    buckets: [0.005, 0.025, 0.1, 0.5, 2.5, 10],
    registers,
  });
  const gauge = (name: string, help: string, read: () => number | Promise<number>): void => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await read());
      },
    });
  };
  gauge('orion_http_requests_in_progress', 'Requests without their whole answer.', () =>
    options.requestsInProgress(),
  );
  gauge('orion_http_connections', 'Open connections.', () => options.connections());
  const { streams } = options;
  gauge('orion_event_streams', 'Open streams of events.', () => streams.open);
  gauge(
    'orion_event_stream_bytes',
    'What waits here for readers of streams.',
    () => streams.buffered,
  );
  gauge(
    'orion_event_streams_stalled',
    'Streams that ended since the start because nobody read them.',
    () => streams.stalled,
  );
  gauge('orion_memory_resident_bytes', 'Memory of the process.', () => process.memoryUsage.rss());
  gauge('orion_memory_heap_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed);
  labelled(
    Gauge,
    registers,
    'orion_write_sessions',
    'Stored write sessions.',
    'status',
    async () => {
      const counts = await withinUnlessDefect(clock, () => options.sessions());
      return counts === 'unavailable' ? [] : [...counts.byStatus];
    },
  );
  labelled(
    Counter,
    registers,
    'orion_write_session_bytes_total',
    'Bytes of write sessions that the operating system (saved) and the disk (synced) has.',
    'stage',
    () => Promise.resolve(sumOf(workspaces.map((each) => each.countSessionBytes()))),
  );
  labelled(
    Gauge,
    registers,
    'orion_not_stored',
    'Records that the store lacks for good.',
    'kind',
    () => Promise.resolve(sumOf(workspaces.map((each) => each.notStored()))),
  );
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const name = 'orion_event_loop_delay_seconds';
  labelled(
    Gauge,
    registers,
    name,
    'Delay of the event loop since the last look.',
    'quantile',
    () => {
      const found = QUANTILES.map((each): [string, number] => [
        String(each),
        Math.max(0, delay.percentile(each * 100) / NANOSECONDS - RESOLUTION_MS / 1000),
      ]);
      delay.reset();
      return Promise.resolve(found);
    },
  );
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    request({ method, route, status, ms }) {
      requests.inc({ method, route, status });
      durations.observe({ route }, ms / 1000);
    },
    turn: countTurns(registers, options.turns, clock),
    close: () => void delay.disable(),
  };
}

/** One metric with a value for each label. */
function labelled(
  Metric: typeof Gauge | typeof Counter,
  registers: Registry[],
  name: string,
  help: string,
  label: string,
  read: () => Promise<readonly (readonly [string, number])[]>,
): void {
  new Metric({
    name,
    help,
    labelNames: [label],
    registers,
    async collect() {
      const values = await read();
      this.reset();
      for (const [value, number] of values) this.inc({ [label]: value }, number);
    },
  });
}

function sumOf(
  all: readonly Readonly<Record<string, number>>[],
): readonly (readonly [string, number])[] {
  const sums = new Map<string, number>();
  for (const [name, number] of all.flatMap((each) => Object.entries(each)))
    sums.set(name, (sums.get(name) ?? 0) + number);
  return [...sums];
}

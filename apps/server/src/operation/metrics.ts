import { monitorEventLoopDelay } from 'node:perf_hooks';

import type { Orion } from '@orion/agent';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** What Prometheus reads of this process. */
export type Metrics = {
  readonly contentType: string;
  text(): Promise<string>;
  /** `route` is the pattern of a route: a path would make a series for each id. */
  request(facts: { method: string; route: string; status: number; ms: number }): void;
  close(): void;
};

export type MetricsOptions = {
  readonly processName: string;
  readonly orion: Pick<Orion, 'listSessions' | 'notStored'>;
  readonly requestsInProgress: () => number;
  readonly connections: () => Promise<number>;
};

const NANOSECONDS = 1e9;
const QUANTILES = [0.5, 0.99, 1];

export function createMetrics(options: MetricsOptions): Metrics {
  const { orion } = options;
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
  gauge('orion_memory_resident_bytes', 'Memory of the process.', () => process.memoryUsage.rss());
  gauge('orion_memory_heap_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed);
  labelled(registers, 'orion_write_sessions', 'Stored write sessions.', 'status', async () =>
    countBy(await orion.listSessions(), ({ status }) => status),
  );
  labelled(registers, 'orion_not_stored', 'Records that the store lacks for good.', 'kind', () =>
    Promise.resolve(Object.entries(orion.notStored())),
  );
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const name = 'orion_event_loop_delay_seconds';
  labelled(registers, name, 'Delay of the event loop since the last look.', 'quantile', () => {
    const found = QUANTILES.map((each): [string, number] => [
      String(each),
      delay.percentile(Math.max(each * 100, 1)) / NANOSECONDS,
    ]);
    delay.reset();
    return Promise.resolve(found);
  });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    request({ method, route, status, ms }) {
      requests.inc({ method, route, status });
      durations.observe({ route }, ms / 1000);
    },
    close: () => void delay.disable(),
  };
}

/** One gauge with a value for each label. */
function labelled(
  registers: Registry[],
  name: string,
  help: string,
  label: string,
  read: () => Promise<readonly (readonly [string, number])[]>,
): void {
  new Gauge({
    name,
    help,
    labelNames: [label],
    registers,
    async collect() {
      const values = await read();
      this.reset();
      for (const [value, number] of values) this.set({ [label]: value }, number);
    },
  });
}

function countBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return [...counts];
}

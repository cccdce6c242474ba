import type { TraceStore } from '@orion/contracts';
import { Client } from 'pg';

import { benchEvent } from './store-events.ts';

/** Recorded at once, as what one piece of a model's stream brings about; then the process turns to its sockets. */
const BURST = 20;
/** So many may wait in the queue, and as many again. */
const CHUNK = 2_000;
const BATCH = 100;

export type Rate = {
  /** Events a second, from the first `record` until all are stored. */
  readonly perSecond: number;
  /** User and system time of this thread for one event: on SQLite, all that it costs but waiting for the disk. */
  readonly cpuMicroseconds: number;
};

/** Records events and waits until all are stored; the next are recorded while the last are being stored. */
export async function rateOfStore(
  traces: TraceStore,
  first: number,
  events: number,
): Promise<Rate> {
  return rate(events, async () => {
    let flushing: Promise<void> = Promise.resolve();
    for (let begun = 0; begun < events; begun += CHUNK) {
      for (let index = begun; index < Math.min(begun + CHUNK, events); index += 1) {
        traces.record(benchEvent(first + index));
        if (index % BURST === 0) await nextMacrotask();
      }
      await flushing;
      flushing = traces.flush();
    }
    await flushing;
    if (traces.dropped() > 0) throw new Error(`${traces.dropped()} events were dropped`);
  });
}

/**
 * What a program without any store would do: the driver, a table with a key, an index and the JSON, 100 rows to an
 * insert. Nothing is redacted, checked or kept twice.
 */
export async function rateOfPlainDriver(url: string, first: number, events: number): Promise<Rate> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(
      `create table if not exists plain_event (
        id bigint generated always as identity primary key,
        request_id text not null, recorded_at bigint not null, body jsonb not null
      )`,
    );
    await client.query(
      'create index if not exists plain_event_request on plain_event (request_id)',
    );
    const values = Array.from(
      { length: BATCH },
      (_, row) => `($${row * 3 + 1}, $${row * 3 + 2}, $${row * 3 + 3})`,
    );
    const insert = `insert into plain_event (request_id, recorded_at, body) values ${values.join(', ')}`;
    return await rate(events, async () => {
      for (let begun = 0; begun < events; begun += BATCH) {
        const parameters: unknown[] = [];
        for (let index = begun; index < begun + BATCH; index += 1) {
          const { requestId, details } = benchEvent(first + index);
          parameters.push(requestId, 1_700_000_000_000 + index, JSON.stringify(details));
        }
        await client.query(insert, parameters);
      }
    });
  } finally {
    await client.end();
  }
}

/** Only what the caller waits for: the value made safe, redacted, and put into a queue. */
export function rateOfRecording(traces: TraceStore, events: number): Promise<Rate> {
  return rate(events, () => {
    for (let index = 0; index < events; index += 1) traces.record(benchEvent(index));
    return Promise.resolve();
  });
}

function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

async function rate(events: number, work: () => Promise<void>): Promise<Rate> {
  const cpu = process.threadCpuUsage();
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const { user, system } = process.threadCpuUsage(cpu);
  return { perSecond: events / seconds, cpuMicroseconds: (user + system) / events };
}

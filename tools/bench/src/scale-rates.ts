import { randomUUID } from 'node:crypto';

import { systemClock } from '@orion/contracts';
import { openStore } from '@orion/trace-store';
import { Client } from 'pg';

import { PostgresMeter } from './postgres-usage.ts';
import { begin, textEvent } from './scale-events.ts';
import { appendToFirstSchema, beginInFirstSchema, FIRST_SCHEMA } from './scale-first-schema.ts';

export type Schema = 'as it is' | 'the first';

export type AppendRate = {
  readonly perSecond: number;
  /** Of all processes of Postgres. */
  readonly cpuMicroseconds: number;
  readonly walBytes: number;
  /** In the table of events and its index. */
  readonly tableBytes: number;
};

/** One event of each of so many turns in a statement. */
export type AppendCase = { readonly schema: Schema; readonly group: number };

export type MeasuredCase = AppendCase & { readonly rates: readonly AppendRate[] };

type Turn = { readonly turnId: string; readonly epoch: number; lastSeq: number };
type Log = {
  readonly table: string;
  readonly turns: readonly Turn[];
  append(turns: readonly Turn[]): Promise<void>;
};

/** Statements at the same time, as of as many processes. */
const LANES = 2;
/** Of each lane. */
const TURNS = 300;
/** So many times fewer rows where each is a statement: those take longer. */
const ONE_BY_ONE = 6;

export async function measureAppends(
  cases: readonly AppendCase[],
  { url, runs, rows }: { readonly url: string; readonly runs: number; readonly rows: number },
): Promise<readonly MeasuredCase[]> {
  const store = openStore({ kind: 'postgres', url }, { clock: systemClock });
  const meter = await PostgresMeter.connect(url);
  const clients = await Promise.all(Array.from({ length: LANES }, () => connect(url)));
  // Somebody is told of each statement, as the other processes are.
  const listener = await connect(url);
  try {
    await listener.query('listen orion_turn');
    const { turnLog } = store;
    const ids = Array.from({ length: LANES * TURNS }, () => randomUUID());
    const claims = await begin(turnLog, ids);
    await meter.run(FIRST_SCHEMA);
    const [first] = clients;
    if (first === undefined) throw new Error('There is no connection');
    await beginInFirstSchema(first, ids);
    const logs: Readonly<Record<Schema, (lane: number) => Log>> = {
      'as it is': (lane) => ({
        table: 'turn_event',
        turns: ofLane(claims, lane),
        async append(turns) {
          const outcomes = await turnLog.appendAll(
            turns.map(({ turnId, epoch, lastSeq }) => ({
              turnId,
              epoch,
              expectSeq: lastSeq + 1,
              events: [textEvent(turnId, lastSeq + 1)],
            })),
          );
          if (outcomes.some(({ kind }) => kind !== 'stored'))
            throw new Error('An event was not stored');
        },
      }),
      'the first': (lane) => ({
        table: 'first.turn_event',
        turns: ofLane(claims, lane),
        append: (turns) =>
          appendToFirstSchema(
            clients[lane] ?? first,
            turns.map(({ turnId, lastSeq }) => ({ turnId, seq: lastSeq + 1 })),
          ),
      }),
    };
    const lanes = (schema: Schema): readonly Log[] =>
      Array.from({ length: LANES }, (_, lane) => logs[schema](lane));
    const ofSchema = { 'as it is': lanes('as it is'), 'the first': lanes('the first') };
    const measured = cases.map((each) => ({ ...each, rates: [] as AppendRate[] }));
    // The first round warms everything up and is not counted; each begins with another case.
    for (let run = 0; run <= runs; run += 1) {
      const from = run % measured.length;
      for (const each of [...measured.slice(from), ...measured.slice(0, from)]) {
        const rate = await rateOf(ofSchema[each.schema], { meter, group: each.group, rows });
        if (run > 0) each.rates.push(rate);
      }
    }
    return measured;
  } finally {
    await listener.end();
    for (const client of clients) await client.end();
    await meter.close();
    await store.close();
  }
}

async function rateOf(
  lanes: readonly Log[],
  {
    meter,
    group,
    rows,
  }: { readonly meter: PostgresMeter; readonly group: number; readonly rows: number },
): Promise<AppendRate> {
  const { table = '' } = lanes[0] ?? {};
  // All begin with an empty table, and none with a checkpoint: what that adds would depend on how many rows follow it.
  await meter.run(`truncate ${table}`);
  const ofLane = Math.ceil((group === 1 ? rows / ONE_BY_ONE : rows) / lanes.length);
  const before = await meter.usage();
  const began = performance.now();
  const stored = await Promise.all(
    lanes.map(async (log) => {
      const { turns } = log;
      let count = 0;
      while (count < ofLane) {
        const from = count % turns.length;
        const taken = turns.slice(from, from + group);
        await log.append(taken);
        for (const turn of taken) turn.lastSeq += 1;
        count += taken.length;
      }
      return count;
    }),
  );
  const tookMs = performance.now() - began;
  const after = await meter.usage();
  const count = stored.reduce((sum, each) => sum + each, 0);
  return {
    perSecond: (count * 1_000) / tookMs,
    cpuMicroseconds: ((after.cpuMs - before.cpuMs) * 1_000) / count,
    walBytes: (after.walBytes - before.walBytes) / count,
    tableBytes: (await meter.bytesOf(table)) / count,
  };
}

function ofLane(
  claims: readonly { readonly turnId: string; readonly epoch: number }[],
  lane: number,
): readonly Turn[] {
  return claims
    .slice(lane * TURNS, (lane + 1) * TURNS)
    .map(({ turnId, epoch }) => ({ turnId, epoch, lastSeq: 0 }));
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

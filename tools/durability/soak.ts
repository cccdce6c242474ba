import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { createRandom, readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import { makeDatabase } from './src/served-turns/databases.ts';
import { makeStage } from './src/served-turns/stage.ts';
import { playClients } from './src/soak/clients.ts';
import type { ClientCounts } from './src/soak/clients.ts';
import { liveMemory, mean, slopePerMinute, takeLiveSample, takeSample } from './src/soak/sample.ts';
import type { LiveSample, Sample } from './src/soak/sample.ts';
import { SOAK_SCRIPT } from './src/soak/script.ts';
import { grownTables, readTables } from './src/soak/tables.ts';
import type { Tables } from './src/soak/tables.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    clients: { type: 'string', default: '50' },
    store: { type: 'string', default: 'sqlite' },
    seed: { type: 'string' },
  },
});

const SAMPLE_MS = 2_000;
/** Of the time, before which caches fill. */
const WARM_UP = 0.5;
/** So often garbage is collected. */
const LIVE_SAMPLES = 20;
/** From the half of the time to its end. */
const MAX_MORE_LIVE_MB = 2;
const MAX_MORE_NATIVE_MB = 10;
const MAX_MORE_DESCRIPTORS = 10;
const MAX_WAL_KB = 64 * 1024;
/** The share by which the rows of a table may grow faster than turns. */
const MAX_TABLE_GROWTH = 0.1;

const minutes = readCount('minutes', values.minutes);
const clients = readCount('clients', values.clients);
const seed =
  values.seed === undefined
    ? Math.floor(Math.random() * 1_000_000_000)
    : readCount('seed', values.seed);
process.stderr.write(`${clients} clients for ${minutes} min on ${values.store}, seed ${seed}\n`);

const postgres = values.store === 'postgres' ? await startPostgres() : null;
const url = postgres === null ? null : await makeDatabase(postgres.url);
const stage = await makeStage({ before: {}, script: SOAK_SCRIPT }, url);
const counts: ClientCounts = {
  turns: 0,
  cancelled: 0,
  reconnects: 0,
  stalled: 0,
  refused: 0,
  ends: {},
  failures: [],
};
const samples: Sample[] = [];
const lives: LiveSample[] = [];
let half: Tables | null = null;
const memoryFile = join(stage.workspace, '..', 'memory.json');
try {
  const served = await stage.serve(liveMemory(memoryFile));
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  const isOver = (): boolean => seconds() >= minutes * 60;
  const random = createRandom(seed);
  const playing = Promise.all(
    Array.from({ length: clients }, (_, client) =>
      playClients(served, client, random, isOver, counts),
    ),
  );
  while (!isOver()) {
    await wait(SAMPLE_MS);
    const facts = { seconds: Math.round(seconds()), turns: counts.turns };
    samples.push(await takeSample(served.pid, stage.workspace, facts));
    const share = seconds() / (minutes * 60);
    if (share >= (lives.length + 1) / LIVE_SAMPLES)
      lives.push(await takeLiveSample(served, memoryFile, seconds()));
    if (share >= WARM_UP) half ??= await readTables(stage.workspace, url);
  }
  await playing;
  const tables = await readTables(stage.workspace, url);
  served.signal('SIGTERM');
  const log = await served.ended;
  const defects = log
    .split('\n')
    .filter((line) => /unhandled|"defect"|INTERNAL_ERROR/iu.test(line));
  report(defects, tables);
} finally {
  await stage.strike();
  await postgres?.stop();
}

function report(defects: readonly string[], tables: Tables): void {
  const isWarm = (sample: { readonly seconds: number }): boolean =>
    sample.seconds >= minutes * 60 * WARM_UP;
  const warm = samples.filter(isWarm);
  const middle = Math.floor(warm.length / 2);
  const growth = (valueOf: (live: LiveSample) => number): number =>
    (slopePerMinute(lives.filter(isWarm), valueOf) / 1024) * minutes * (1 - WARM_UP);
  const live = growth(({ liveKb }) => liveKb);
  const native = growth(({ nativeKb }) => nativeKb);
  const grown = half === null ? [] : grownTables(half, tables, MAX_TABLE_GROWTH);
  const descriptors = (part: readonly Sample[]): number => mean(part.map((one) => one.descriptors));
  const more = descriptors(warm.slice(middle)) - descriptors(warm.slice(0, middle));
  const wal = Math.max(...samples.map(({ walKb }) => walKb));
  const misses = [
    ...(live > MAX_MORE_LIVE_MB ? ['live memory grows'] : []),
    ...(native > MAX_MORE_NATIVE_MB ? ['memory outside of the heap grows'] : []),
    ...grown.map((table) => `the table ${table} grows faster than turns`),
    ...(more > MAX_MORE_DESCRIPTORS ? ['descriptors grow'] : []),
    ...(wal > MAX_WAL_KB ? ['the log of SQLite grows'] : []),
    ...(counts.failures.length > 0 ? ['clients failed'] : []),
    ...(defects.length > 0 ? ['the server has a defect'] : []),
  ];
  const { failures, ...numbers } = counts;
  process.stdout.write(
    `${JSON.stringify({
      minutes,
      ...numbers,
      rssMb: samples
        .filter((_, index) => index % 15 === 0)
        .map(({ rssKb }) => Math.round(rssKb / 1024)),
      rssMbAMinute: Number(slopePerMinute(warm, ({ rssKb }) => rssKb / 1024).toFixed(2)),
      liveMb: lives.map(({ liveKb }) => Number((liveKb / 1024).toFixed(1))),
      moreLiveMb: Number(live.toFixed(1)),
      nativeMb: lives.map(({ nativeKb }) => Math.round(nativeKb / 1024)),
      moreNativeMb: Number(native.toFixed(1)),
      tables,
      moreDescriptors: Number(more.toFixed(1)),
      walKb: wal,
      failures: failures.slice(0, 5),
      defects: defects.slice(0, 5),
      misses,
    })}\n`,
  );
  process.exitCode = misses.length === 0 ? 0 : 1;
}

import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { createRandom, readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import { makeDatabase } from './src/served-turns/databases.ts';
import { makeStage } from './src/served-turns/stage.ts';
import { startGroup } from './src/several-servers/group.ts';
import { judgeStore } from './src/several-servers/judge-store.ts';
import { environmentOf } from './src/several-servers/scenario.ts';
import { playClients } from './src/soak/clients.ts';
import type { ClientCounts } from './src/soak/clients.ts';
import { judgeProcess, judgeStoreSize } from './src/soak/judge.ts';
import { liveMemory, takeLiveSample, takeSample } from './src/soak/sample.ts';
import type { WatchedProcess } from './src/soak/sample.ts';
import { SOAK_SCRIPT } from './src/soak/script.ts';
import { grownTables, readTables, walKbOf, watchStore } from './src/soak/tables.ts';
import type { StoreSample, Tables } from './src/soak/tables.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    clients: { type: 'string', default: '50' },
    /** Postgres, if there are workers. */
    store: { type: 'string' },
    workers: { type: 'string', default: '0' },
    /** In seconds, on average; 0 kills none. */
    'kill-every': { type: 'string', default: '120' },
    seed: { type: 'string' },
  },
});

const SAMPLE_MS = 2_000;
/** So often garbage is collected. */
const LIVE_SAMPLES = 20;
const MAX_WAL_KB = 64 * 1024;
/** The share by which the rows of a table may grow faster than turns. */
const MAX_TABLE_GROWTH = 0.1;
const DEFECT =
  /unhandled|"defect"|INTERNAL_ERROR|worker \d+ is silent|worker \d+ ended \((?!SIGKILL)/iu;

const minutes = readCount('minutes', values.minutes);
const clients = readCount('clients', values.clients);
const workers = readCount('workers', values.workers);
const killEvery = readCount('kill-every', values['kill-every']);
const kind = values.store ?? (workers > 0 ? 'postgres' : 'sqlite');
if (workers === 1 || (workers > 0 && kind !== 'postgres')) {
  process.stderr.write('--workers must be at least 2, which share a Postgres\n');
  process.exit(2);
}
const seed =
  values.seed === undefined
    ? Math.floor(Math.random() * 1_000_000_000)
    : readCount('seed', values.seed);
const of = workers > 0 ? ` with ${workers} workers` : '';
process.stderr.write(`${clients} clients for ${minutes} min on ${kind}${of}, seed ${seed}\n`);

const half = (minutes * 60) / 2;
const postgres = kind === 'postgres' ? await startPostgres() : null;
const url = postgres === null ? null : await makeDatabase(postgres.url);
const queue = workers > 0 ? 'pg-boss' : 'in-process';
const stage = await makeStage(
  { before: {}, script: SOAK_SCRIPT },
  url,
  environmentOf('directory', queue),
);
const counts: ClientCounts = {
  turns: 0,
  cancelled: 0,
  reconnects: 0,
  stalled: 0,
  refused: 0,
  ends: {},
  failures: [],
};
let kills = 0;
let walKb = 0;
let atHalf: Tables | null = null;
const storeSamples: StoreSample[] = [];
const memoryFile = join(stage.workspace, '..', 'memory.json');
const store = url === null ? null : await watchStore(url, workers > 0);
try {
  const isOneParent = workers > 0;
  const preload = liveMemory(memoryFile);
  const group = await startGroup(stage, { count: Math.max(workers, 1), isOneParent, preload });
  const parent = group.at(0);
  const random = createRandom(seed);
  // One place among the workers is struck again and again; what lives in the others is judged.
  const started = await group.pids();
  const struck = random.between(0, Math.max(workers - 1, 0));
  const lasting = isOneParent ? started.filter((_, index) => index !== struck) : [];
  const watched = [parent.pid, ...lasting].map((pid, index): WatchedProcess => ({
    name: index === 0 ? (isOneParent ? 'parent' : 'server') : `worker ${index}`,
    pid,
    samples: [],
    lives: [],
  }));
  const began = performance.now();
  const seconds = (): number => (performance.now() - began) / 1000;
  let isBroken = false;
  const isOver = (): boolean => isBroken || seconds() >= minutes * 60;
  const playing = Promise.all(
    Array.from({ length: clients }, (_, client) =>
      playClients(group, client, random, isOver, counts),
    ),
  );
  const nextKill = (): number =>
    isOneParent && killEvery > 0
      ? seconds() + random.between(Math.ceil(killEvery / 2), Math.ceil(killEvery * 1.5))
      : Infinity;
  const look = async (): Promise<void> => {
    const now = seconds();
    const isLiveDue = now / (minutes * 60) >= ((watched[0]?.lives.length ?? 0) + 1) / LIVE_SAMPLES;
    for (const { pid, samples, lives } of watched) {
      samples.push(await takeSample(pid, now));
      if (isLiveDue) lives.push(await takeLiveSample(pid, memoryFile, now));
    }
    if (store === null) walKb = Math.max(walKb, await walKbOf(stage.workspace));
    else storeSamples.push(await store.sample(now));
    if (now >= half) atHalf ??= await readTables(stage.workspace, url);
  };
  let killAt = nextKill();
  while (!isOver()) {
    await wait(SAMPLE_MS);
    try {
      await look();
    } catch (error) {
      counts.failures.push(`a process that has to last is gone: ${String(error)}`);
      isBroken = true;
    }
    if (seconds() < killAt) continue;
    const victim = (await group.pids()).find((pid) => !lasting.includes(pid));
    if (victim !== undefined) await group.replace(victim, 'SIGKILL');
    kills += 1;
    killAt = nextKill();
  }
  await playing;
  const tables = await readTables(stage.workspace, url);
  if (store !== null) storeSamples.push(await store.sample(seconds()));
  if (url !== null) counts.failures.push(...(await judgeStore(url, isOneParent, {})));
  await group.end();
  const log = await parent.ended;
  report(
    watched,
    tables,
    log.split('\n').filter((line) => DEFECT.test(line)),
  );
} finally {
  await store?.close();
  await stage.strike();
  await postgres?.stop();
}

function report(
  watched: readonly WatchedProcess[],
  tables: Tables,
  defects: readonly string[],
): void {
  const processes = watched.map((each) => ({ name: each.name, ...judgeProcess(each, half) }));
  const size = judgeStoreSize(storeSamples, half, clients);
  const grown = atHalf === null ? [] : grownTables(atHalf, tables, MAX_TABLE_GROWTH);
  const { failures, ...numbers } = counts;
  const misses = [
    ...processes.flatMap((each) => each.misses),
    ...size.misses,
    ...grown.map((table) => `the table ${table} grows faster than turns`),
    ...(walKb > MAX_WAL_KB ? ['the log of SQLite grows'] : []),
    ...(failures.length > 0 ? ['clients failed'] : []),
    ...(defects.length > 0 ? ['the server has a defect'] : []),
  ];
  process.stdout.write(
    `${JSON.stringify({
      minutes,
      workers,
      seed,
      kills,
      ...numbers,
      processes: Object.fromEntries(processes.map(({ name, figures }) => [name, figures])),
      tables,
      ...(url === null ? { walKb } : size.figures),
      failures: failures.slice(0, 5),
      defects: defects.slice(0, 5),
      misses,
    })}\n`,
  );
  process.exitCode = misses.length === 0 ? 0 : 1;
}

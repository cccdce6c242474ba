import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { formatTable, readCount } from '@orion/common';
import { startPostgres } from '@orion/testkit/postgres';

import type { Goal } from './src/goals.ts';
import { formatGoals } from './src/report.ts';
import {
  LIVE_MEMORY,
  liveMemory,
  runLoad,
  startProgram,
  startTokenProvider,
  usageOf,
} from './src/server-load.ts';
import type { LoadResult, Usage } from './src/server-load.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    /** Turns and tokens a second of each load. */
    loads: { type: 'string', default: '200x50,400x50,1000x20' },
    sessions: { type: 'string', default: '100' },
    readers: { type: 'string', default: '400' },
    connections: { type: 'string', default: '10000' },
    stores: { type: 'string', default: 'sqlite,postgres' },
    json: { type: 'string' },
  },
});
const seconds = readCount('seconds', values.seconds, 1);
const sessions = readCount('sessions', values.sessions, 1);
const readers = readCount('readers', values.readers, 1);
const connections = readCount('connections', values.connections, 1);
const loads = values.loads.split(',').map((load) => {
  const [streams = 0, rate = 0] = load.split('x').map(Number);
  return { streams, rate };
});
/** p99 in milliseconds, as promised for 200 x 50, 400 x 50 and 1,000 x 20. */
const GOALS: Readonly<Record<number, number>> = { 200: 120, 400: 250, 1000: 450 };
const STREAM_KB = 60;
const STALLED_MB = 1;
const ARRIVE_MS = 4_000;
const ROUNDS = 5;
const TOKEN = 'a-token-of-the-measurement';
const command = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));
await access(command);

type Row = {
  readonly store: string;
  readonly load: string;
  readonly result: LoadResult;
  readonly usage: Usage;
};
type Served = { readonly child: ChildProcess; readonly url: string };

const rows: Row[] = [];
const goals: Goal[] = [];
const goal = (name: string, wanted: string, measured: string, met: boolean): void => {
  goals.push({ name, wanted, measured, met });
};
const folder = await mkdtemp(join(tmpdir(), 'orion-bench-'));
const memoryFile = join(folder, 'memory');
const provider = await startTokenProvider();
try {
  process.stdout.write(
    `Node ${process.version}, ${availableParallelism()} processors, ${seconds} s of tokens\n`,
  );
  for (const { streams, rate } of loads) await measureRaw(streams, rate);
  for (const store of values.stores.split(',')) await measureStore(store);
  process.stdout.write(`${formatRows()}\n\n${formatGoals(goals)}\n`);
  if (values.json !== undefined)
    await writeFile(values.json, `${JSON.stringify({ version: 1, rows, goals }, null, 2)}\n`);
} finally {
  provider.child.kill();
  await rm(folder, { recursive: true, force: true });
}

/** The same tokens over the same sockets, and nothing between the model and the readers. */
async function measureRaw(streams: number, rate: number): Promise<void> {
  progress(`raw ${streams} x ${rate}`);
  const tokens = rate * seconds;
  const before = await usageOf(provider.child);
  const result = await runLoad({
    url: `${provider.url}/raw?rate=${rate}&count=${tokens}`,
    token: TOKEN,
    name: 'raw',
    streams,
    rate,
    tokens,
    messages: null,
    arriveMs: ARRIVE_MS,
  });
  const after = await usageOf(provider.child);
  rows.push({
    store: 'raw node:http',
    load: `${streams} x ${rate}`,
    result,
    usage: over(before, after),
  });
}

async function measureStore(store: string): Promise<void> {
  const postgres = store === 'postgres' ? await startPostgres() : null;
  const cwd = join(folder, store);
  await mkdir(cwd);
  const served = await startProgram(
    [...LIVE_MEMORY, command, 'serve', '--port=0', '--model=m', `--base-url=${provider.url}`],
    {
      cwd,
      env: {
        HOME: cwd,
        ORION_SERVER_TOKEN: TOKEN,
        ORION_BENCH_MEMORY: memoryFile,
        // The flood is longer than what a turn may say.
        ORION_STOP_TOKENS: '1000000000',
        ORION_TURNS_PER_MINUTE: '1000000',
        ...(postgres === null ? {} : { DATABASE_URL: postgres.url }),
      },
    },
  );
  try {
    await measureTurns(store, { ...served, streams: 20, rate: 20, counts: false });
    await measureReaders(store, served);
    for (const load of loads) await measureTurns(store, { ...served, ...load, counts: true });
    await measureSessions(store, served, cwd);
    await measureConnections(store, served);
    await measureRounds(store, served);
  } finally {
    const ended = once(served.child, 'exit');
    served.child.kill('SIGTERM');
    await ended;
    await postgres?.stop();
  }
}

async function measureTurns(
  store: string,
  {
    child,
    url,
    streams,
    rate,
    counts,
  }: Served & {
    readonly streams: number;
    readonly rate: number;
    readonly counts: boolean;
  },
): Promise<void> {
  progress(`${store} ${streams} x ${rate}`);
  const before = await usageOf(child);
  const result = await runLoad({
    url,
    token: TOKEN,
    name: `t${streams}-${rate}`,
    streams,
    rate,
    tokens: rate * seconds,
    messages: 'talk',
    arriveMs: ARRIVE_MS,
  });
  if (!counts) return;
  const usage = over(before, await usageOf(child));
  rows.push({ store, load: `${streams} x ${rate}`, result, usage });
  const wrong = result.missing + result.unordered;
  goal(`${store}: tokens that are missing, out of order`, '0', String(wrong), wrong === 0);
  const most = GOALS[streams];
  const raw = rows.find(
    (row) => row.store.startsWith('raw') && row.load === `${streams} x ${rate}`,
  );
  if (most === undefined) return;
  const p99 = result.p99 ?? Number.NaN;
  const ratio = p99 / (raw?.result.p99 ?? Number.NaN);
  goal(
    `${store}: ${streams} turns x ${rate} tokens/s, p99`,
    `at most ${most} ms`,
    `${p99.toFixed(0)} ms (${ratio.toFixed(1)} x raw)`,
    p99 <= most,
  );
}

/** Files that arrive at 100 tokens a second each: a backlog would make them end later. */
async function measureSessions(store: string, { child, url }: Served, cwd: string): Promise<void> {
  progress(`${store} ${sessions} write sessions`);
  const before = await usageOf(child);
  const began = performance.now();
  const result = await runLoad({
    url,
    token: TOKEN,
    name: `${store}-w`,
    streams: sessions,
    rate: 100,
    tokens: 100 * seconds,
    messages: 'write',
    arriveMs: 1_000,
  });
  const lateMs = performance.now() - began - 1_000 * seconds - 1_000;
  const usage = over(before, await usageOf(child));
  rows.push({ store, load: `${sessions} files x 100`, result, usage });
  let whole = 0;
  for (let index = 0; index < sessions; index += 1) {
    const text = await readFile(join(cwd, `${store}-w-${index}.txt`), 'utf8').catch(() => '');
    if (text.split('\n').length === 100 * seconds + 1) whole += 1;
  }
  goal(`${store}: ${sessions} files whole`, String(sessions), String(whole), whole === sessions);
  goal(
    `${store}: ${sessions} files x 100 tokens/s, end`,
    'within 5 s of the last token',
    `${(lateMs / 1000).toFixed(1)} s`,
    lateMs <= 5_000,
  );
}

/** Memory of readers that wait for a turn, and of one that does not read. */
async function measureReaders(store: string, { child, url }: Served): Promise<void> {
  progress(`${store} ${readers} readers`);
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
  const begin = async (
    what: string,
    name: string,
    rate: number,
    tokens: number,
  ): Promise<string> => {
    const body = JSON.stringify({
      content: `${what} ${name} ${rate} ${tokens}`,
      conversationId: name,
    });
    const answer = await fetch(`${url}/api/chat/messages`, { method: 'POST', headers, body });
    return ((await answer.json()) as { readonly turnId: string }).turnId;
  };
  const metric = async (name: string): Promise<string | undefined> => {
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    return new RegExp(`^${name}\\S* (\\S+)$`, 'mu').exec(text)?.[1];
  };
  const waiting = await begin('talk', `${store}-idle`, 1, 90);
  const open = async (turnId: string): Promise<Socket> => {
    const { port } = new URL(url);
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    await once(socket, 'connect');
    socket.write(
      `GET /api/turns/${turnId}/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`,
    );
    return socket;
  };
  const warm = await Promise.all(Array.from({ length: 50 }, () => open(waiting)));
  await rest(2_000);
  const before = await liveMemory(child, memoryFile);
  const sockets = await Promise.all(Array.from({ length: readers }, () => open(waiting)));
  for (const socket of [...warm, ...sockets]) socket.resume();
  await rest(4_000);
  const after = await liveMemory(child, memoryFile);
  const read = Number(await metric('orion_event_streams'));
  const each = (after - before) / 1000 / readers;
  goal(
    `${store}: live memory of an open stream, of ${readers}`,
    `at most ${STREAM_KB} kB`,
    `${each.toFixed(0)} kB, ${read} open`,
    each <= STREAM_KB && read >= readers,
  );
  for (const socket of [...warm, ...sockets]) socket.destroy();
  const long = await begin('flood', `${store}-long`, 500, 500 * seconds);
  const stalled = await open(long);
  stalled.pause();
  await rest(seconds * 1000 + 2_000);
  const bytes = Number(await metric('orion_event_stream_bytes'));
  goal(
    `${store}: held for a reader that does not read`,
    `at most ${STALLED_MB} MB`,
    `${(bytes / 1e6).toFixed(2)} MB`,
    bytes <= STALLED_MB * 1e6,
  );
  stalled.destroy();
}

/** The same load again and again: what is held after it must not grow. */
async function measureRounds(store: string, { child, url }: Served): Promise<void> {
  progress(`${store} rounds`);
  const held: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `round${round}`;
    const load = { streams: 100, rate: 20, tokens: 20 * seconds };
    await runLoad({ ...load, url, token: TOKEN, name, messages: 'talk', arriveMs: 1_000 });
    await rest(2_000);
    held.push((await liveMemory(child, memoryFile)) / 1e6);
  }
  const [first = Number.NaN] = held;
  const growth = (held.at(-1) ?? Number.NaN) / first - 1;
  goal(
    `${store}: live memory after ${ROUNDS} rounds of 100 turns, over the first`,
    'at most +10 %',
    `${growth >= 0 ? '+' : ''}${(growth * 100).toFixed(0)} % of ${first.toFixed(0)} MB`,
    growth <= 0.1,
  );
}

async function measureConnections(store: string, { url }: Served): Promise<void> {
  progress(`${store} ${connections} connections`);
  const { port } = new URL(url);
  const sockets: Socket[] = [];
  let refused = 0;
  // A few are for those who ask.
  for (let index = 0; index < connections - 20; index += 1) {
    const socket = connect({ port: Number(port), host: '127.0.0.1' });
    socket.on('error', () => (refused += 1));
    sockets.push(socket);
    if (index % 200 === 0) await once(socket, 'connect').catch(() => undefined);
  }
  const began = performance.now();
  const { status } = await fetch(`${url}/health/live`);
  const tookMs = performance.now() - began;
  for (const socket of sockets) socket.destroy();
  goal(
    `${store}: an answer beside ${connections - 20} idle connections`,
    '200 within 1 s',
    `${status} in ${tookMs.toFixed(0)} ms, ${refused} refused`,
    status === 200 && tookMs <= 1_000 && refused === 0,
  );
}

function over(before: Usage, after: Usage): Usage {
  return { cpuMs: after.cpuMs - before.cpuMs, residentMiB: after.residentMiB };
}

function rest(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

function formatRows(): string {
  return formatTable([
    ['store', 'load', 'events', 'p50 ms', 'p99 ms', 'most ms', 'server CPU s', 'server MiB'],
    ...rows.map(({ store, load, result, usage }) => [
      store,
      load,
      String(result.events),
      ...[result.p50, result.p99, result.most].map((delay) => delay?.toFixed(0) ?? ''),
      (usage.cpuMs / 1000).toFixed(1),
      usage.residentMiB.toFixed(0),
    ]),
  ]);
}

function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

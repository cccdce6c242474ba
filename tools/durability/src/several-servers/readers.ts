/** Readers of every manner: one that leaves at every event, one that does not read, and many that wait. */
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase, numberOf } from '../served-turns/databases.ts';
import { judgeEvents } from '../served-turns/judge.ts';
import { isRefused, TurnReader } from '../served-turns/reader.ts';
import type { ServerAddress } from '../served-turns/reader.ts';
import { makeStage } from '../served-turns/stage.ts';
import { ALLOWED_COMMAND } from '../served-turns/stories.ts';
import { startGroup } from './group.ts';
import type { Group } from './group.ts';
import { judgeTask, post } from './run-fault.ts';
import { environmentOf } from './scenario.ts';
import type { ScenarioOptions, ScenarioOutcome } from './scenario.ts';
import { makeTasks } from './tasks.ts';

const TURNS = 5;
const IDLE = 200;
const MOST_STATEMENTS = 5;
/** Of one processor. */
const MOST_PERCENT = 2;
const WATCHED_MS = 20_000;
/** A connection of Postgres that has nothing to do counts its last transactions after ten seconds. */
const SETTLE_MS = 12_000;
const SLEEPS = 'Wait for long.';

const STALL_MS = 20_000;
/** What a server may hold for a reader that does not read. */
const MOST_HELD = 1_000_000;
const HELD_EVERY_MS = 500;
/** More than the sockets of a machine hold by themselves. */
const TALK_LINES = 250_000;
const TALK = {
  name: 'Talk for long.',
  before: {},
  after: {},
  says: Array.from({ length: TALK_LINES }, (_, index) => `This is line ${index + 1} of it.\n`).join(
    '',
  ),
};
const FAILURE_CHARACTERS = 200;

export async function readInEveryManner(
  { servers: count, isOneParent, sessions }: ScenarioOptions,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  const { tasks, whole } = makeTasks(TURNS);
  const sleeping = {
    when: { history: { contains: SLEEPS } },
    reply: { toolCalls: [{ name: 'run_command', arguments: { command: ALLOWED_COMMAND } }] },
  };
  const talking = {
    when: { history: { contains: TALK.name } },
    shape: { chunk: 8_000, eventsPerSecond: 200 },
    reply: { text: TALK.says },
  };
  const behaviours = [sleeping, talking, ...whole.script.behaviours];
  const script = { ...whole.script, behaviours };
  const database = await makeDatabase(postgres.url);
  const before = { 'count.sh': 'sleep 600\n' };
  const ofQueue = environmentOf(sessions);
  const stage = await makeStage({ before, script }, database, (server, root) => ({
    ...ofQueue(server, root),
    // The long one says more than a turn usually may.
    ORION_STOP_TOKENS: '1000000000',
  }));
  try {
    const group = await startGroup(stage, { count, isOneParent });
    const ids = await Promise.all(tasks.map((task, index) => post(group, index, task)));
    const restless = await Promise.all(ids.map((id) => leaveAtEveryEvent(group, id)));
    const failures = tasks.flatMap((task, index) => judgeTask(task, restless[index] ?? []));
    const stalled = await stall(group);
    failures.push(...stalled.failures);
    const quiet = await post(group, 0, { prompt: SLEEPS, conversationId: 'quiet' });
    await wait(SETTLE_MS);
    const without = await loadOf(group, database);
    const streams = await Promise.all(Array.from({ length: IDLE }, () => open(group.at(0), quiet)));
    await wait(SETTLE_MS);
    const beside = await loadOf(group, database);
    const added = {
      statements: rounded(beside.statements - without.statements),
      percent: rounded(beside.percent - without.percent),
    };
    if (added.statements > MOST_STATEMENTS || added.percent > MOST_PERCENT)
      failures.push(`${IDLE} readers add more than they may: ${JSON.stringify(added)}`);
    for (const stream of streams) stream.destroy();
    await group.at(1).ask('POST', `/api/turns/${quiet}/cancel`, {});
    await group.end();
    return {
      figures: {
        turns: TURNS,
        'stalled text MB': rounded(TALK.says.length / 1e6),
        'held for it bytes': stalled.held,
        idle: IDLE,
        'statements/s without': rounded(without.statements),
        'statements/s added': added.statements,
        '% of a processor without': rounded(without.percent),
        '% of a processor added': added.percent,
      },
      failures,
    };
  } finally {
    await stage.strike();
  }
}

/** To the next server each time. */
async function leaveAtEveryEvent(group: Group, turnId: string): Promise<TurnReader['events']> {
  const reader = new TurnReader(turnId);
  for (let connections = 0; !reader.isDone; connections += 1) {
    try {
      await reader.read(group.at(connections), () => 'enough');
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
  }
  return reader.events;
}

/** A client that asks for a long turn and reads nothing of it for a while, as one that was put to sleep. */
async function stall(
  group: Group,
): Promise<{ readonly held: number; readonly failures: readonly string[] }> {
  const conversationId = 'stalled';
  const reader = new TurnReader(await post(group, 0, { prompt: TALK.name, conversationId }));
  const server = group.at(1);
  const looking = new AbortController();
  const holding = mostHeld(server, looking.signal);
  await reader.read(server, () => (reader.isDone ? 'enough' : 'more'), STALL_MS);
  looking.abort();
  const held = await holding;
  const failures = judgeEvents({ ...TALK, script: { behaviours: [] } }, reader.events).map(
    (failure) => failure.slice(0, FAILURE_CHARACTERS),
  );
  if (held === 0) failures.push('nothing was held for the stalled reader: its text was too short');
  if (held > MOST_HELD) failures.push(`${held} bytes were held for the stalled reader`);
  return { held, failures: failures.map((failure) => `stalled: ${failure}`) };
}

/** The most bytes that waited in a server for its readers while the stall lasted. */
async function mostHeld({ url, token }: ServerAddress, signal: AbortSignal): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const until = performance.now() + STALL_MS - HELD_EVERY_MS;
  let most = 0;
  while (!signal.aborted && performance.now() < until) {
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    most = Math.max(most, Number(/^orion_event_stream_bytes\S* (\d+)$/mu.exec(text)?.[1]));
    await wait(HELD_EVERY_MS);
  }
  return most;
}

type Load = { readonly statements: number; readonly percent: number };

/** What the store is asked a second, each a transaction of its own, and what the servers need of a processor. */
async function loadOf(group: Group, database: string): Promise<Load> {
  const sample = async () => ({
    statements: await numberOf(
      database,
      'select xact_commit from pg_stat_database where datname = current_database()',
    ),
    cpuMs: await cpuOf(await group.pids()),
    at: performance.now(),
  });
  const first = await sample();
  await wait(WATCHED_MS);
  const last = await sample();
  const tookMs = last.at - first.at;
  return {
    statements: ((last.statements - first.statements) * 1_000) / tookMs,
    percent: ((last.cpuMs - first.cpuMs) * 100) / tookMs,
  };
}

/** User and system, in ms. */
async function cpuOf(pids: readonly number[]): Promise<number> {
  let ticks = 0;
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * 10;
}

function rounded(figure: number): number {
  return Math.round(figure * 10) / 10;
}

function open({ url, token }: ServerAddress, turnId: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    get(`${url}/api/turns/${turnId}/events`, { agent: false, headers }, (stream) => {
      stream.resume().once('error', () => undefined);
      resolve(stream);
    }).once('error', reject);
  });
}

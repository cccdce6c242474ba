/** Readers of every manner: one that leaves at every event, one that does not read, and many that wait. */
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase, numberOf } from '../served-turns/databases.ts';
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
const WATCHED_MS = 20_000;
const SETTLE_MS = 3_000;
const SLEEPS = 'Wait for long.';

export async function readInEveryManner(
  { servers: count, isOneParent, sessions }: ScenarioOptions,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  const { tasks, whole } = makeTasks(TURNS);
  const sleeping = {
    when: { history: { contains: SLEEPS } },
    reply: { toolCalls: [{ name: 'run_command', arguments: { command: ALLOWED_COMMAND } }] },
  };
  const script = { ...whole.script, behaviours: [sleeping, ...whole.script.behaviours] };
  const database = await makeDatabase(postgres.url);
  const before = { 'count.sh': 'sleep 600\n' };
  const stage = await makeStage({ before, script }, database, environmentOf(sessions));
  try {
    const group = await startGroup(stage, { count, isOneParent });
    const ids = await Promise.all(tasks.map((task, index) => post(group, index, task)));
    const restless = await Promise.all(ids.map((id) => leaveAtEveryEvent(group, id)));
    const failures = tasks.flatMap((task, index) => judgeTask(task, restless[index] ?? []));
    const quiet = await post(group, 0, { prompt: SLEEPS, conversationId: 'quiet' });
    await wait(SETTLE_MS);
    const without = await statementsIn(database);
    const streams = await Promise.all(Array.from({ length: IDLE }, () => open(group.at(0), quiet)));
    await wait(SETTLE_MS);
    const added = (await statementsIn(database)) - without;
    if (added > MOST_STATEMENTS)
      failures.push(`${IDLE} readers add ${added} statements a second, not ${MOST_STATEMENTS}`);
    for (const stream of streams) stream.destroy();
    await group.at(1).ask('POST', `/api/turns/${quiet}/cancel`, {});
    await group.end();
    return { figures: { turns: TURNS, idle: IDLE, without, added }, failures };
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

/** A second; each is a transaction of its own. */
async function statementsIn(database: string): Promise<number> {
  const count = (): Promise<number> =>
    numberOf(
      database,
      'select xact_commit from pg_stat_database where datname = current_database()',
    );
  const first = await count();
  await wait(WATCHED_MS);
  return Math.round((1_000 * ((await count()) - first)) / WATCHED_MS);
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

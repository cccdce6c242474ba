/** Hundreds of turns of one project, and then a few of others: those do not wait for all of the first. */
import { setTimeout as wait } from 'node:timers/promises';

import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase, numberOf } from '../served-turns/databases.ts';
import { makeStage } from '../served-turns/stage.ts';
import type { Answer } from '../served-turns/stage.ts';
import { startGroup } from './group.ts';
import { environmentOf } from './scenario.ts';
import type { ScenarioOptions, ScenarioOutcome } from './scenario.ts';

const MANY = 900;
const OTHERS = 10;
/** Of each server. */
const SLOTS = 4;
/** Turns of the first project that begin after another one has arrived, and before that begins. */
const MOST_BEFORE = 30;
const AT_ONCE = 20;
const LOOK_MS = 500;
const LIMIT_MS = 300_000;
const SCRIPT = {
  behaviours: [{ reply: { text: 'A word and another one. '.repeat(4) } }],
  shape: { chunk: 8, eventsPerSecond: 100 },
};

export async function shareSlots(
  { servers, isOneParent, sessions }: ScenarioOptions,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  const database = await makeDatabase(postgres.url);
  const running = Math.floor((servers * SLOTS) / 2);
  const limits = { '*': { running, queued: MANY } };
  const environment = environmentOf(sessions);
  const stage = await makeStage({ before: {}, script: SCRIPT }, database, (server, root) => ({
    ...environment(server, root),
    ORION_RUNNING_TURNS: String(SLOTS),
    ORION_PROJECT_LIMITS: JSON.stringify(limits),
  }));
  const failures: string[] = [];
  try {
    const group = await startGroup(stage, { count: servers, isOneParent });
    const began = performance.now();
    const post = (index: number, projectId: string): Promise<Answer> => {
      const conversationId = `${projectId}-${index}`;
      const body = { content: 'Say it.', projectId, conversationId };
      return group.at(index).ask('POST', '/api/chat/messages', body);
    };
    // More than may wait: some begin meanwhile, and the rest is refused.
    let refused: Answer | null = null;
    let taken = 0;
    for (let index = 0; refused === null && index < 3 * MANY; index += AT_ONCE) {
      const answers = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, more) => post(index + more, 'many')),
      );
      taken += answers.filter(({ status }) => status === 202).length;
      refused = answers.find(({ status }) => status !== 202) ?? null;
    }
    if (refused?.status !== 429 || !(Number(refused.headers['retry-after']) > 0))
      failures.push(`beyond the limit a client was answered ${JSON.stringify(refused)}`);
    for (let index = 0; index < OTHERS; index += 1) {
      const { status } = await post(index, `other-${index}`);
      if (status !== 202) failures.push(`a turn of another project was answered with ${status}`);
    }
    const until = performance.now() + LIMIT_MS;
    let open = taken;
    while (open > 0 && performance.now() < until) {
      await wait(LOOK_MS);
      open = await numberOf(database, UNFINISHED);
    }
    if (open > 0) failures.push(`${open} turns are not over after ${LIMIT_MS / 1_000} s`);
    const seconds = Math.round((performance.now() - began) / 1_000);
    const most = await numberOf(database, MOST_BETWEEN);
    if (most >= MOST_BEFORE)
      failures.push(`${most} turns of the first began between one of another and its begin`);
    const atOnce = await numberOf(database, AT_THE_SAME_TIME);
    await group.end();
    const figures = {
      seconds,
      turns: taken + OTHERS,
      slots: servers * SLOTS,
      running,
      most,
      atOnce,
    };
    return { figures, failures };
  } finally {
    await stage.strike();
  }
}

const UNFINISHED = 'select count(*) as turns from turn where finished_at is null';
/** When a turn said its first word, which is when it has a slot. */
const BEGUN = `select turn_no, project_id, created_at, finished_at,
    (select min(stored_at) from turn_event where turn_event.turn_no = turn.turn_no) as begun_at
  from turn`;
const MOST_BETWEEN = `with begun as (${BEGUN})
  select max(turns) from (select count(first.turn_no) as turns from begun as other
  left join begun as first on first.project_id = 'many'
    and first.begun_at > other.created_at and first.begun_at < other.begun_at
  where other.project_id <> 'many' group by other.turn_no) as counted`;
/** The most that the first project ran at once. */
const AT_THE_SAME_TIME = `with begun as (${BEGUN} where project_id = 'many')
  select max(turns) from (
    select count(*) as turns from begun as one join begun as other
      on other.begun_at <= one.begun_at and other.finished_at > one.begun_at
    group by one.turn_no) as counted`;

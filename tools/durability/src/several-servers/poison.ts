/** A turn that ends its process whenever it is run, beside others that are well. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase } from '../served-turns/databases.ts';
import { judgeFiles } from '../served-turns/judge.ts';
import { makeStage } from '../served-turns/stage.ts';
import { startGroup } from './group.ts';
import { judgeStore } from './judge-store.ts';
import { judgeReader, judgeTask, post, readAgain } from './run-fault.ts';
import { environmentOf } from './scenario.ts';
import type { ScenarioOptions, ScenarioOutcome } from './scenario.ts';
import { makeTasks } from './tasks.ts';
import { WatchedTurn } from './watched-turn.ts';

const HEALTHY = 30;
/** Those that have stood beside it twice run one after the other. */
const LINES = 150;
const POISON = { prompt: 'This ends its process.', conversationId: 'of-poison' };
const ATTEMPTS = 5;
/** From the third attempt on it runs beside no other. */
const MOST_MOVES = 3;
/** The others are under way by then. */
const BEGUN_MS = 1_500;
const LIMIT_MS = 300_000;

export async function endProcesses(
  { servers: count, isOneParent, sessions }: ScenarioOptions,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  const { tasks, whole } = makeTasks(HEALTHY, LINES);
  const database = await makeDatabase(postgres.url);
  const stage = await makeStage(whole, database, environmentOf(sessions));
  const deaths = join(stage.workspace, '..', 'deaths');
  try {
    const preload = {
      module: new URL('./preload/end-with-poison.ts', import.meta.url),
      environment: { ORION_POISON: POISON.prompt, ORION_DEATHS: deaths },
    };
    const group = await startGroup(stage, { count, isOneParent, preload, keepsUp: true });
    const began = performance.now();
    const watched = async (task: typeof POISON, index: number): Promise<WatchedTurn> => {
      const turn = new WatchedTurn(() => post(group, index, task));
      let connections = index;
      const reading = turn.read(() => group.at((connections += 1)));
      if ((await Promise.race([reading, late])) === 'late')
        throw new Error(`${task.prompt} is not over, its last event: ${lastOf(turn)}`);
      return turn;
    };
    const late = wait(LIMIT_MS, 'late', { ref: false });
    const healthy = Promise.all(tasks.map(watched));
    healthy.catch(() => undefined);
    await wait(BEGUN_MS);
    const poisoned = await watched(POISON, 0);
    const poisonedMs = performance.now() - began;
    const turns = await healthy;
    const seconds = Math.round((performance.now() - began) / 1_000);
    const all = [...turns, poisoned];
    const again = [...(await readAgain(group.at(0), all)), ...all.flatMap(judgeReader)];
    await group.end();
    const ended = (await readFile(deaths, 'utf8')).split('\n').length - 1;
    const mostMoves = Math.max(...turns.map(({ moves }) => moves.length));
    const failures = [
      ...tasks.flatMap((task, index) => judgeTask(task, turns[index]?.events ?? [])),
      ...again,
      ...(await judgeFiles(whole, stage.workspace, false)).filter(
        (failure) => !failure.startsWith('files are left'),
      ),
      ...(await judgeStore(database, true)),
      ...judgePoisoned(poisoned),
      ...(ended === ATTEMPTS ? [] : [`${ended} processes ended, not ${ATTEMPTS}`]),
      ...(mostMoves <= MOST_MOVES ? [] : [`a healthy turn went to ${mostMoves} other owners`]),
    ];
    const poisonedSeconds = Math.round(poisonedMs / 1_000);
    return { figures: { seconds, poisonedSeconds, ended, mostMoves }, failures };
  } finally {
    await stage.strike();
  }
}

function judgePoisoned(turn: WatchedTurn): readonly string[] {
  const [error, done] = turn.events.slice(-2);
  const { code } = (error?.data['error'] ?? {}) as { readonly code?: string };
  const isRight = code === 'TURN_POISONED' && done?.data['status'] === 'error';
  return isRight ? [] : [`the turn that ends its processes ended with ${lastOf(turn)}`];
}

function lastOf({ events }: WatchedTurn): string {
  return JSON.stringify(events.slice(-2).map(({ data }) => data));
}

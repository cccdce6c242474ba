/** The acceptance scenarios over HTTP, again and again, while one process after the other is killed. */
import { setTimeout as wait } from 'node:timers/promises';

import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase } from '../served-turns/databases.ts';
import { makeStage } from '../served-turns/stage.ts';
import { createClient } from './acceptance/client.ts';
import type { Act, Scene } from './acceptance/scenario.ts';
import { GIVEN, TURNS } from './acceptance/turns.ts';
import { UPLOADS } from './acceptance/uploads.ts';
import { WRITING } from './acceptance/writing.ts';
import { startGroup } from './group.ts';
import { judgeStore } from './judge-store.ts';
import { environmentOf } from './scenario.ts';
import type { ScenarioOptions, ScenarioOutcome } from './scenario.ts';

const ACTS: readonly Act[] = [...WRITING, ...UPLOADS, ...TURNS];
const KILL_MS = 10_000;
/** Rounds go on for so long, and each scenario has so many at least. */
const PLAYED_MS = 60_000;
const LEAST_ROUNDS = 3;
/** The model's answers are given to its provider before. */
const MOST_ROUNDS = 60;
/** For a round. */
const LIMIT_MS = 120_000;

export async function playAcceptance(
  { servers, isOneParent, sessions }: ScenarioOptions,
  postgres: TestPostgres,
): Promise<ScenarioOutcome> {
  const rounds = Array.from({ length: MOST_ROUNDS }, (_, index) => index + 1);
  const behaviours = ACTS.flatMap((act) => rounds.flatMap((round) => act.behaviours(round)));
  const database = await makeDatabase(postgres.url);
  const environment = environmentOf(sessions);
  const stage = await makeStage(
    { before: GIVEN, script: { behaviours } },
    database,
    (index, root) => ({
      ...environment(index, root),
      PROTOCOL_OVERRIDE_ENABLED: 'true',
    }),
  );
  try {
    const group = await startGroup(stage, { count: servers, isOneParent });
    const over = new AbortController();
    let kills = 0;
    let killed = Promise.withResolvers<void>();
    const striking = (async () => {
      for (;;) {
        await wait(KILL_MS, undefined, { signal: over.signal });
        const [oldest] = await group.pids();
        if (oldest !== undefined) await group.replace(oldest, 'SIGKILL');
        kills += 1;
        killed.resolve();
        killed = Promise.withResolvers<void>();
      }
    })().catch((error: unknown) => {
      if (!over.signal.aborted) throw error;
    });
    // Looked at below.
    striking.catch(() => undefined);
    const scene: Scene = {
      client: createClient(group),
      workspace: stage.workspace,
      nextKill: () => killed.promise,
    };
    const began = performance.now();
    const isOver = (): boolean => performance.now() - began > PLAYED_MS;
    const failures: string[] = [];
    const played = await Promise.all(
      ACTS.map(async (act) => {
        let round = 0;
        while (round < MOST_ROUNDS && (round < LEAST_ROUNDS || !isOver())) {
          round += 1;
          const found = await playRound(act, scene, round);
          failures.push(...found.map((failure) => `${act.name}, round ${round}: ${failure}`));
          if (found.length > 0) break;
        }
        return [act.name, round] as const;
      }),
    );
    over.abort();
    await striking;
    await group.end();
    failures.push(...(await judgeStore(database, true, {})));
    return { figures: { kills, ...Object.fromEntries(played) }, failures };
  } finally {
    await stage.strike();
  }
}

async function playRound(act: Act, scene: Scene, round: number): Promise<readonly string[]> {
  const late = wait(LIMIT_MS, [`not over after ${LIMIT_MS / 1_000} s`], { ref: false });
  const playing = act.play(scene, round).catch((error: unknown) => [String(error)]);
  return Promise.race([playing, late]);
}

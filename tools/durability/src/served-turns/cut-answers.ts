/** Turns on a Postgres whose answers are cut: whether a commit happened is not known, and it happened once. */
import type { Random } from '@orion/common';
import type { TestPostgres } from '@orion/testkit/postgres';

import { startCuttingProxy } from './cutting-proxy.ts';
import { makeDatabase } from './databases.ts';
import { runPlan } from './run-plan.ts';
import { STORIES } from './stories.ts';

/** Of the statements that change something. */
const SHARE = 0.15;
const CHANGES = /commit|insert into|update turn/iu;
const NAME = 'change';

export async function cutAnswers(
  postgres: TestPostgres,
  cuts: number,
  random: Random,
): Promise<{
  readonly turns: number;
  readonly cuts: number;
  readonly failures: readonly string[];
}> {
  const proxy = await startCuttingProxy(
    postgres.port,
    () => (sent) => (CHANGES.test(sent) && random.next() < SHARE ? NAME : null),
  );
  const cut = (): number => proxy.cuts.get(NAME) ?? 0;
  const failures: string[] = [];
  let turns = 0;
  try {
    while (cut() < cuts && failures.length === 0) {
      const story = random.pick(STORIES);
      const url = new URL(await makeDatabase(postgres.url));
      url.port = String(proxy.port);
      const outcome = await runPlan({ story, interruption: { kind: 'cut' } }, url.href);
      turns += 1;
      failures.push(...outcome.failures.map((failure) => `${story.name}: ${failure}`));
    }
    return { turns, cuts: cut(), failures };
  } finally {
    proxy.close();
  }
}

/** What a run of its own, other than many turns under a fault, is given and answers with. */
import { join } from 'node:path';

import type { TestPostgres } from '@orion/testkit/postgres';

export type Scenario = (
  options: ScenarioOptions,
  postgres: TestPostgres,
) => Promise<ScenarioOutcome>;

export type Sessions = 'directory' | 'database';

export type ScenarioOptions = {
  readonly servers: number;
  /** The servers are workers of one parent. */
  readonly isOneParent: boolean;
  /** In a database, each server has a state directory of its own. */
  readonly sessions: Sessions;
};

export type ScenarioOutcome = {
  readonly figures: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
};

/** Of each server. */
export function environmentOf(
  sessions: Sessions,
  queue = 'pg-boss',
): (server: number, root: string) => Readonly<Record<string, string>> {
  return (server, root) => ({
    ORION_QUEUE: queue,
    ORION_SESSIONS: sessions,
    ...(sessions === 'database' ? { ORION_STATE_DIR: join(root, `state-${server}`) } : {}),
  });
}

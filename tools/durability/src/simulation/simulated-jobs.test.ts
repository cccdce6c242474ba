import { PgBossQueue } from '@orion/server/turns';
import { createMemoryTraceStore } from '@orion/trace-store';
import { storeOver } from '@orion/trace-store/over-database';
import type { SqlDatabase } from '@orion/trace-store/over-database';
import { describeTurnQueueContract } from '@orion/testkit';

import { SharedDatabase } from './shared-database.ts';
import { SimulatedJobs } from './simulated-jobs.ts';
import { World } from './world.ts';

/** Hazard: the simulation has a queue that no engine is like, and finds what cannot happen, or nothing. */

const AGE = `update simulated_job set touched_at = touched_at - 11000 where state = 'active'`;

describeTurnQueueContract('of the simulation', async (perProject) => {
  const world = new World(1);
  const { clock } = world;
  const shared = await SharedDatabase.open(world, (sql) => sql);
  const database = shared.direct();
  const store = storeOver(database, { clock, traces: createMemoryTraceStore({ clock }) });
  const { servedTurns: turns, turnLog: log } = store;
  const errors: unknown[] = [];
  let isKilled = false;
  const open = (isFirst: boolean): PgBossQueue => {
    const guarded: SqlDatabase = {
      ...database,
      transaction: (work) =>
        isFirst && isKilled ? Promise.reject(new Error('killed')) : database.transaction(work),
    };
    return PgBossQueue.over(new SimulatedJobs(guarded), {
      database: {
        executeSql: () => Promise.resolve(shared.notify()),
        listen: (_, onMessage) => shared.listen(onMessage),
      },
      turns,
      clock,
      isOnly: false,
      perProject,
      onError: (error) => errors.push(error),
    });
  };
  return {
    queue: open(true),
    next: () => Promise.resolve(open(false)),
    async kill() {
      isKilled = true;
      await database.run(AGE);
    },
    turns,
    log,
    errors,
    pass: () => clock.advance(1_000),
    close: () => Promise.resolve(shared.close()),
  };
});

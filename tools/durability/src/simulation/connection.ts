import { storeUnavailable } from '@orion/trace-store/over-database';
import type { SqlDatabase, SqlRunner } from '@orion/trace-store/over-database';

import type { ProcessLife } from './process-life.ts';
import type { SharedDatabase } from './shared-database.ts';
import type { World } from './world.ts';

/** How likely it is that something happens to one call, and for how long answers are late then. */
export type Weather = {
  readonly lostAnswers: number;
  readonly slow: number;
  readonly slowMs: number;
};

/** How long a process waits for a store that it cannot reach. */
const UNREACHABLE_MS = [200, 3_000] as const;
/** The way to the store, and the way back. */
const WAY_MS = [1, 3] as const;
/** Notifications that do not arrive. */
const LOST_NOTIFICATIONS = 0.3;

export type ConnectionOptions = {
  readonly world: World;
  readonly life: ProcessLife;
  readonly database: SharedDatabase;
  readonly weather: () => Weather;
};

/**
 * The store as one process sees it.
 *
 * 1. What was sent is executed, also when its process is frozen or dead meanwhile.
 * 2. A call that was not answered may have been executed or not; its process learns that the outcome is unknown.
 */
export class Connection implements SqlDatabase {
  readonly dialect = 'sqlite';
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  run: SqlDatabase['run'] = (sql, parameters) =>
    this.#call(nameOf(sql), (inside) => inside.run(sql, parameters));

  all: SqlDatabase['all'] = (sql, parameters) =>
    this.#call(nameOf(sql), (inside) => inside.all(sql, parameters));

  transaction: SqlDatabase['transaction'] = (work) => this.#call('transaction', work);

  listen: SqlDatabase['listen'] = (_channel, onMessage) => {
    const { world, life, database } = this.#options;
    return database.listen(() => {
      if (life.isCutOff || world.chance.isLikely(LOST_NOTIFICATIONS)) return;
      life.clock.schedule(world.chance.between(...WAY_MS), () => onMessage('*'));
    });
  };

  takeLock: SqlDatabase['takeLock'] = () => Promise.resolve(null);

  close(): Promise<void> {
    return Promise.resolve();
  }

  async #call<Result>(name: string, work: (inside: SqlRunner) => Promise<Result>): Promise<Result> {
    const { world, life, database, weather } = this.#options;
    const { chance } = world;
    const { timeline } = database;
    const { lostAnswers, slow, slowMs } = weather();
    const late = (): number => (chance.isLikely(slow) ? chance.between(1, slowMs) : 0);
    const isLost = chance.isLikely(lostAnswers);
    const way = chance.between(...WAY_MS) + late();
    const back = chance.between(...WAY_MS) + late();
    const isAway = (): boolean => life.isCutOff || database.timeline !== timeline;
    const fail = async (): Promise<never> => {
      await world.pause(chance.between(...UNREACHABLE_MS));
      await life.awake();
      throw storeUnavailable('The store cannot be reached', { retryable: true, reason: '08006' });
    };
    await world.pause(way);
    if (isAway()) return fail();
    const answer = await database.atomically(life.name, work).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    world.note(
      `${life.name} ${name}${'error' in answer ? ' refused' : ''}${isLost ? ' lost' : ''}`,
    );
    await world.pause(back);
    if (isLost || isAway()) return fail();
    await life.awake();
    if ('error' in answer) throw answer.error;
    return answer.result;
  }
}

function nameOf(sql: string): string {
  return sql.trim().split(/\s+/u, 3).join(' ');
}

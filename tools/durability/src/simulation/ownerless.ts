import type { ProcessLife } from './process-life.ts';
import type { SharedDatabase } from './shared-database.ts';
import { ALONE } from './simulated-jobs.ts';
import type { World } from './world.ts';

export type OwnerlessTurnsOptions = {
  readonly world: World;
  readonly database: SharedDatabase;
  /** Those that take turns. */
  readonly takers: () => readonly ProcessLife[];
  /** All that there are or were, by their names. */
  readonly owners: ReadonlyMap<string, ProcessLife>;
  readonly isCalm: () => boolean;
};

const LOOK_MS = 250;
const LONGEST_MS = 12_000;

/**
 * Looks how long a turn that is not over has nobody who runs it, while there is somebody who could: a process that has
 * been well for all that time. A process that is cut off runs nothing either. Answers that are lost or late make others
 * wait, too: a job whose taker never heard of it has to become silent first. So it looks only while the weather is calm.
 *
 * A turn that is to run alone waits in a line, one of which runs at a time: as long as those before it take. What tells
 * it is its job. The attempts without progress do not: the one that only put the turn into the line is not counted.
 */
export class OwnerlessTurns {
  readonly #world: World;
  readonly #database: SharedDatabase;
  readonly #takers: () => readonly ProcessLife[];
  readonly #owners: ReadonlyMap<string, ProcessLife>;
  readonly #isCalm: () => boolean;
  readonly #since = new Map<string, number>();
  readonly #epochs = new Map<string, number>();
  readonly #reported = new Set<string>();
  longest = 0;
  #wellSince = 0;
  #isOver = false;

  constructor({ world, database, takers, owners, isCalm }: OwnerlessTurnsOptions) {
    this.#world = world;
    this.#database = database;
    this.#takers = takers;
    this.#owners = owners;
    this.#isCalm = isCalm;
  }

  /** Somebody may have lost what it was doing: the time counts anew. */
  startOver(): void {
    this.#wellSince = this.#world.now;
    this.#since.clear();
  }

  end(): void {
    this.#isOver = true;
  }

  async watch(): Promise<void> {
    while (!this.#isOver) {
      this.#look();
      await this.#world.pause(LOOK_MS);
    }
  }

  #look(): void {
    const { now } = this.#world;
    if (!this.#isCalm() || !this.#takers().some(({ isHealthy }) => isHealthy)) this.startOver();
    const rows = this.#database.rows(
      `select turn_id, epoch, state,
         exists (select 1 from simulated_job where id = turn_id and queue = '${ALONE}') as is_to_run_alone,
         (select process from simulated_owner where turn_no = turn.turn_no order by epoch desc limit 1) as process
       from turn where state is not null and finished_at is null`,
    );
    const open = new Set<string>();
    for (const { turn_id: id, epoch, state, is_to_run_alone: isToRunAlone, process } of rows) {
      const turnId = String(id);
      open.add(turnId);
      // It may have had an owner between two looks.
      const isNew = this.#epochs.get(turnId) !== epoch;
      this.#epochs.set(turnId, Number(epoch));
      if (isNew) this.#since.set(turnId, now);
      const isOwned = state === 1 && this.#owners.get(String(process))?.isHealthy === true;
      if (isOwned || isToRunAlone === 1) {
        this.#since.delete(turnId);
        continue;
      }
      const since = this.#since.get(turnId) ?? now;
      this.#since.set(turnId, since);
      const lasts = now - Math.max(since, this.#wellSince);
      this.longest = Math.max(this.longest, lasts);
      if (lasts <= LONGEST_MS || this.#reported.has(turnId)) continue;
      this.#reported.add(turnId);
      this.#world.fail(`the turn ${turnId} had no owner for more than ${LONGEST_MS} ms`);
    }
    for (const turnId of this.#since.keys()) if (!open.has(turnId)) this.#since.delete(turnId);
  }
}

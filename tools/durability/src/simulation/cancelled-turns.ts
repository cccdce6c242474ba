import type { ProcessLife } from './process-life.ts';
import type { SharedDatabase } from './shared-database.ts';
import type { World } from './world.ts';

export type CancelledTurnsOptions = {
  readonly world: World;
  readonly database: SharedDatabase;
  /** All that there are or were, by their names. */
  readonly owners: ReadonlyMap<string, ProcessLife>;
};

const LOOK_MS = 250;
const LONGEST_MS = 2_000;
/** With a tool that does not heed anybody. */
const LONGEST_WITH_A_TOOL_MS = 13_000;

/**
 * Looks how long a turn goes on that is to end, while its owner is well. How long it is without an owner is looked at
 * elsewhere. For runs in which every answer of the store arrives: otherwise an owner may not know that it is one.
 */
export class CancelledTurns {
  readonly #options: CancelledTurnsOptions;
  /** Since when a turn has been asked to end while that owner was well. */
  readonly #since = new Map<string, { readonly epoch: number; readonly at: number }>();
  readonly #reported = new Set<string>();
  #isOver = false;

  constructor(options: CancelledTurnsOptions) {
    this.#options = options;
  }

  end(): void {
    this.#isOver = true;
  }

  async watch(): Promise<void> {
    while (!this.#isOver) {
      this.#look();
      await this.#options.world.pause(LOOK_MS);
    }
  }

  #look(): void {
    const { world, database, owners } = this.#options;
    // A store that went back names an owner which has lost the turn.
    if (database.timeline > 0) return;
    const rows = database.rows(
      `select turn_id, epoch, state, request,
         (select process from simulated_owner where turn_no = turn.turn_no order by epoch desc limit 1) as process
       from turn where cancel_requested_at is not null and state is not null and finished_at is null`,
    );
    for (const row of rows) {
      const turnId = String(row['turn_id']);
      const epoch = Number(row['epoch']);
      const known = this.#since.get(turnId);
      const isOwned = row['state'] === 1 && owners.get(String(row['process']))?.isHealthy === true;
      if (!isOwned) this.#since.delete(turnId);
      else if (known?.epoch !== epoch) this.#since.set(turnId, { epoch, at: world.now });
      else {
        const limit = /\bhang\b/u.test(String(row['request']))
          ? LONGEST_WITH_A_TOOL_MS
          : LONGEST_MS;
        if (world.now - known.at > limit && !this.#reported.has(turnId)) {
          this.#reported.add(turnId);
          world.fail(`the turn ${turnId} went on for more than ${limit} ms after it was cancelled`);
        }
      }
    }
  }
}

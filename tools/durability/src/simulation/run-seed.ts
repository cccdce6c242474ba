import { CancelledTurns } from './cancelled-turns.ts';
import { Client } from './client.ts';
import { CALM, planRun } from './fault-plan.ts';
import type { PlannedFault } from './fault-plan.ts';
import { judge } from './judge.ts';
import { judgeFiles } from './judge-files.ts';
import { OwnerlessTurns } from './ownerless.ts';
import type { PlantedDefect } from './planted-defects.ts';
import type { ProcessLife } from './process-life.ts';
import type { SharedDatabase, StoreCopy } from './shared-database.ts';
import { makeFolder, removeFolder } from './simulated-files.ts';
import { startProcess } from './simulated-process.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { TurnScript } from './scripted-model.ts';
import { Effects } from './scripted-tools.ts';
import { takeTurn } from './taken-turn.ts';
import type { EndedTurn } from './taken-turn.ts';
import type { World } from './world.ts';

export type RunOptions = {
  /** Empty. */
  readonly database: SharedDatabase;
  readonly defect?: PlantedDefect | null;
  readonly isCalm?: boolean;
};

export type RunOutcome = {
  readonly trace: string;
  readonly failures: readonly string[];
  readonly turns: number;
  /** Turns that ended with an error, as they may after too many interruptions. */
  readonly givenUp: number;
  readonly resets: number;
  /** The longest time for which a turn had no owner, in milliseconds. */
  readonly longestMs: number;
  readonly faults: number;
};

/** Everything has to be over after that, in milliseconds of virtual time. */
const LONGEST_RUN_MS = 240_000;
const STEP_MS = 1_000;

/** One run: processes, clients and faults, until every turn is over. */
export async function runSeed(world: World, options: RunOptions): Promise<RunOutcome> {
  const { database, defect = null, isCalm = false } = options;
  const plan = planRun(world.seed, { isCalm });
  const processes = new Set<SimulatedProcess>();
  const lives = new Map<string, ProcessLife>();
  const effects = new Effects(world, database);
  const folder = plan.hasFiles ? makeFolder() : null;
  let started = 0;
  const isBad = (): boolean => world.now < plan.badUntil;
  const start = async (): Promise<void> => {
    started += 1;
    const process = await startProcess({
      world,
      name: `p${started}`,
      database,
      effects,
      folder,
      defect,
      weather: () => (isBad() ? plan.weather : CALM),
      duplicates: () => (isBad() ? plan.duplicates : 0),
    });
    processes.add(process);
    lives.set(process.life.name, process.life);
  };
  for (let process = 0; process < plan.processes; process += 1) await start();
  const isCalmWeather = plan.weather === CALM && plan.duplicates === 0;
  // What a process has sent may arrive so late, also when it is dead: until then its turn counts as confirmed.
  const isStill = (): boolean => world.now >= plan.badUntil + plan.weather.slowMs;
  const seen = { world, database, owners: lives };
  const ownerless = new OwnerlessTurns({
    ...seen,
    isCalm: () => isCalmWeather || isStill(),
    takers: () => [...processes].map(({ life }) => life),
  });
  const cancelled = new CancelledTurns(seen);
  const client = new Client({
    world,
    processes: () => [...processes],
    defect,
    timeline: () => database.timeline,
  });
  const ended: EndedTurn[] = [];
  const talk = async (conversation: number, scripts: readonly TurnScript[]): Promise<void> => {
    const conversationId = `conversation ${conversation}`;
    for (const script of scripts)
      ended.push(
        await takeTurn(
          { world, client, database },
          { script, conversationId, readers: plan.readers },
        ),
      );
  };
  const copies = new Copies(world, database, plan.faults);
  const strike = async (fault: PlannedFault): Promise<void> => {
    await world.pause(fault.at);
    const running = [...processes].filter(({ life }) => life.state !== 'dead');
    const { length } = fault;
    if (fault.kind === 'failover') {
      copies.goBack();
      ownerless.startOver();
      return;
    }
    if (running.length === 0) return;
    const target = world.chance.of(running);
    const { life } = target;
    switch (fault.kind) {
      case 'kill':
        life.kill();
        processes.delete(target);
        await world.pause(length);
        await start();
        return;
      case 'stop':
        processes.delete(target);
        void target.stop();
        await world.pause(length);
        await start();
        return;
      case 'freeze':
        life.freeze();
        await world.pause(length);
        life.wake();
        return;
      case 'partition':
        life.cutOff(true);
        await world.pause(length);
        life.cutOff(false);
        return;
      case 'clock':
        life.jump(length);
        return;
    }
    fault.kind satisfies never;
  };
  let isOver = false;
  const failed = (error: unknown): void => {
    world.fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  const all = Promise.all([
    ...plan.conversations.map((scripts, index) => talk(index, scripts)),
    ...plan.faults.map(strike),
  ])
    .catch(failed)
    .then(() => {
      isOver = true;
    });
  void ownerless.watch().catch(failed);
  if (isCalmWeather) void cancelled.watch().catch(failed);
  void copies.make().catch(failed);
  // With a failover, a turn may come back of which its client has seen the end.
  while (!(isOver && database.openTurns() === 0) && world.now < LONGEST_RUN_MS)
    await world.clock.advance(STEP_MS);
  if (!isOver) world.fail('not every turn was over in time');
  ownerless.end();
  cancelled.end();
  copies.end();
  // What wakes late must not change anything.
  await world.clock.advance(isOver ? 30_000 : 0);
  if (isOver) await all;
  const { givenUp } = isOver ? judge(world, { database, effects, turns: ended }) : { givenUp: 0 };
  if (isOver && folder !== null) judgeFiles(world, { folder, database, turns: ended });
  for (const { life } of processes) life.kill();
  await world.clock.advance(0);
  if (folder !== null) removeFolder(folder);
  return {
    trace: world.trace(),
    failures: world.failures,
    turns: ended.length,
    givenUp,
    resets: ended.flatMap(({ readings }) => readings).reduce((sum, { resets }) => sum + resets, 0),
    longestMs: ownerless.longest,
    faults: plan.faults.length,
  };
}

/** What a standby has: the store as it was a little earlier. */
class Copies {
  readonly #world: World;
  readonly #database: SharedDatabase;
  readonly #times: readonly number[];
  readonly #copies: { readonly at: number; readonly copy: StoreCopy }[] = [];
  #isOver = false;

  constructor(world: World, database: SharedDatabase, faults: readonly PlannedFault[]) {
    this.#world = world;
    this.#database = database;
    this.#times = faults
      .filter(({ kind }) => kind === 'failover')
      .map(({ at, length }) => Math.max(0, at - length));
  }

  end(): void {
    this.#isOver = true;
  }

  async make(): Promise<void> {
    for (const at of this.#times) {
      await this.#world.pause(Math.max(0, at - this.#world.now));
      if (!this.#isOver) this.#copies.push({ at, copy: this.#database.copy() });
    }
  }

  goBack(): void {
    const last = this.#copies.at(-1);
    if (last !== undefined) this.#database.failOver(last.copy);
  }
}

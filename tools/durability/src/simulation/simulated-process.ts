import { join } from 'node:path';

import { createOrion } from '@orion/agent';
import type { Orion, Store } from '@orion/agent';
import {
  createTurnService,
  OverdueTurns,
  PgBossQueue,
  projectsOf,
  ProtocolLimits,
  TurnRunner,
} from '@orion/server/turns';
import type { TurnService } from '@orion/server/turns';
import { createMemoryTraceStore } from '@orion/trace-store';
import {
  createSqlSessionContent,
  createSqlSharedRecords,
  storeOver,
} from '@orion/trace-store/over-database';

import { Connection } from './connection.ts';
import type { Weather } from './connection.ts';
import { noWorkspace } from './no-workspace.ts';
import type { PlantedDefect } from './planted-defects.ts';
import { ProcessLife } from './process-life.ts';
import { scriptedModel } from './scripted-model.ts';
import { scriptedTools } from './scripted-tools.ts';
import type { Effects } from './scripted-tools.ts';
import type { SharedDatabase } from './shared-database.ts';
import { SimulatedJobs } from './simulated-jobs.ts';
import type { World } from './world.ts';

/** A server without its sockets, as one process of several. */
export type SimulatedProcess = {
  readonly life: ProcessLife;
  readonly service: TurnService;
  readonly approvals: Orion['approvals'];
  /** Lets the turns that run end, hands the others off, and is gone with that. */
  stop(): Promise<void>;
};

export type ProcessOptions = {
  readonly world: World;
  readonly name: string;
  readonly database: SharedDatabase;
  readonly effects: Effects;
  /** What all processes share of a file system; null for turns that write no file. */
  readonly folder: string | null;
  readonly weather: () => Weather;
  readonly defect: PlantedDefect | null;
  /** How likely it is that a look for turns finds those that are out. */
  readonly duplicates: () => number;
};

const SLOTS = 8;
const PER_MINUTE = 1_000_000;
const DRAIN_MS = 1_000;

export function startProcess(options: ProcessOptions): Promise<SimulatedProcess> {
  const life = new ProcessLife(options.name, options.world);
  return life.run(() => start(life, options));
}

async function start(
  life: ProcessLife,
  { world, name, database, effects, folder, weather, defect, duplicates }: ProcessOptions,
): Promise<SimulatedProcess> {
  const { clock } = life;
  const connection = new Connection({ world, life, database, weather });
  const over: Store = {
    ...storeOver(connection, { clock, traces: createMemoryTraceStore({ clock }) }),
    sessionContent: createSqlSessionContent(connection),
    sharedRecords: createSqlSharedRecords(connection),
  };
  const store: Store = defect?.store?.(over) ?? over;
  const orion = await createOrion({
    ...(folder === null
      ? { workspace: '/simulated', createWorkspace: () => Promise.resolve(noWorkspace()) }
      : { workspace: join(folder, 'volume') }),
    adapter: scriptedModel(clock),
    tools: scriptedTools(clock, effects),
    approve: 'ask',
    settings: {
      approveCommands: 'ask',
      maxPhaseCycles: 9,
      // Nothing but the volume and the store is shared.
      ...(folder === null
        ? {}
        : { sessions: 'database', stateDirectory: join(folder, `state-${name}`) }),
    },
    store,
    clock,
    projectId: 'p',
  });
  const projects = projectsOf(orion);
  const { servedTurns: turns, turnLog: log } = store;
  const report = (what: string, error: unknown): void => {
    if (isDefect(error)) world.fail(`${what}: ${String(error)}`);
  };
  const queue = PgBossQueue.over(
    new SimulatedJobs(connection, () => world.chance.isLikely(duplicates())),
    {
      database: {
        executeSql: () => connection.run('select 1').then(() => database.notify()),
        listen: (_, onMessage) => connection.listen('', onMessage),
      },
      turns,
      clock,
      isOnly: false,
      perProject: { others: Infinity, projects: new Map() },
      onError: (error) => report(`the queue of ${name}`, error),
    },
  );
  const onEvent = (): void => undefined;
  const runner = new TurnRunner({
    queue,
    turns,
    log,
    projects,
    clock,
    slots: SLOTS,
    isOverloaded: () => false,
    onEvent,
    onFailure: (_, error) => report(`a turn of ${name}`, error),
  });
  const overdue = new OverdueTurns({
    turns,
    log,
    queue,
    clock,
    onEvent,
    onError: (error) => report(`the overdue turns of ${name}`, error),
  });
  const service = createTurnService({
    turns,
    log,
    queue,
    runner,
    projects,
    clock,
    rates: new ProtocolLimits(clock, {
      standardTurnsPerMinute: PER_MINUTE,
      twoStageTurnsPerMinute: PER_MINUTE,
      controllerTurnsPerMinute: PER_MINUTE,
    }),
    maxWaiting: 1_000,
    limitsOf: () => ({ queued: 10_000, tokensPerDay: null }),
    isStopping: () => false,
    onEvent,
  });
  runner.start();
  overdue.start();
  world.note(`${name} started`);
  return {
    life,
    service,
    approvals: orion.approvals,
    stop: () =>
      life.run(async () => {
        world.note(`${name} stops`);
        await Promise.all([overdue.stop(), runner.stop(DRAIN_MS)]);
        await orion.close();
        life.kill();
      }),
  };
}

/** What nobody expects, however bad the store is. */
function isDefect(error: unknown): boolean {
  return !(error instanceof Error) || !('code' in error) || error.code === 'INTERNAL_ERROR';
}

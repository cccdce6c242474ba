import { createHash } from 'node:crypto';
import { hostname } from 'node:os';

import type { Orion } from '@orion/agent';
import { OrionError, toErrorInfo } from '@orion/contracts';
import type { Clock, RunEvent, ServingHold, TurnQueue } from '@orion/contracts';

import type { QueueKind } from '../configuration.ts';
import type { ServerLimits } from '../limits.ts';
import { rarely } from '../operation/rarely.ts';
import type { ServerLog } from '../operation/request-log.ts';
import { limitsOf, runningLimits } from '../project-limits.ts';
import type { LimitsByProject } from '../project-limits.ts';
import type { Projects } from '../projects.ts';
import { InProcessQueue } from '../queue/in-process-queue.ts';
import { PgBossQueue } from '../queue/pg-boss-queue.ts';
import { createTurnService } from './create-turn-service.ts';
import { requireLocalSessions } from './local-sessions.ts';
import { OverdueTurns } from './overdue-turns.ts';
import { ProtocolLimits } from './protocol-limits.ts';
import type { TurnRates } from './protocol-limits.ts';
import { TurnRunner } from './turn-runner.ts';
import type { TurnService } from './turn-service.ts';

/** A store that takes longer for what the running turns say, in milliseconds, is given no further turn. */
const OVERLOADED_STORE_MS = 1_000;
/** A process that is later than this, in milliseconds, begins no turn beside one that runs. */
const OVERLOADED_LOOP_MS = 100;

export type OpenTurnsOptions = {
  /** Whose store it is. */
  readonly orion: Pick<Orion, 'store'>;
  readonly projects: Projects;
  readonly limits: Pick<ServerLimits, 'turns' | 'waitingTurns'> & TurnRates;
  /** None but the defaults when left out. */
  readonly projectLimits?: LimitsByProject;
  /** See `ListenOptions`. */
  readonly queue?: QueueKind;
  readonly clock: Clock;
  /** How late this process deals with what happens, as the 99th percentile of the last seconds. */
  readonly eventLoopDelayMs: () => number;
  readonly log: ServerLog;
  readonly onEvent: (event: RunEvent) => void;
  readonly isStopping: () => boolean;
};

/** The turns that this process serves. */
export type ServedTurnsHere = {
  readonly service: TurnService;
  /** Of this process alone, or shared by those whose queue is in the same Postgres. */
  readonly hold: ServingHold;
  readonly running: () => number;
  /** Those among them that wait for a person. */
  readonly resting: () => number;
  readonly pendingApprovals: () => Promise<number>;
  readonly waiting: TurnQueue['waiting'];
  readonly readerLagMs: () => number;
  /** Begins with what an earlier process left behind. */
  start(): void;
  /** See `TurnRunner.stop`. */
  stop(drainMs: number, cut?: AbortSignal): Promise<void>;
};

/**
 * Takes the right to run the turns of a store. Rejects with STORE_IN_USE, with STORE_UNAVAILABLE, and with CONFIG_INVALID
 * for a queue that the store cannot have.
 */
export async function openTurns(options: OpenTurnsOptions): Promise<ServedTurnsHere> {
  const { orion, projects, limits, clock, eventLoopDelayMs, log, onEvent, isStopping } = options;
  const { servedTurns: turns, turnLog } = orion.store;
  const isShared = isQueueShared(options);
  if (isShared) await requireLocalSessions(projects);
  const hold = await orion.store.holdServing(isShared ? { sharedBy: placeOf(projects) } : {});
  const warn = (text: string): void => log.warn(text);
  const report = (what: string, error: unknown, write = warn): void => {
    const { code } = toErrorInfo(error);
    if (code === 'INTERNAL_ERROR') log.defect(what, error);
    else write(`${what}: ${code}`);
  };
  const warnRarely = rarely(clock, warn);
  const onError = (error: unknown): void => report('queue', error, warnRarely);
  const queue = await openQueue(options, hold, onError).catch(async (error: unknown) => {
    await hold.release();
    throw error;
  });
  const runner = new TurnRunner({
    queue,
    turns,
    log: turnLog,
    projects,
    clock,
    slots: limits.turns,
    // One turn runs on any machine: it may be the machine that is slow, and then it never gets better.
    isOverloaded: (running) =>
      orion.store.appendMs() > OVERLOADED_STORE_MS ||
      (running > 0 && eventLoopDelayMs() > OVERLOADED_LOOP_MS),
    onEvent,
    onFailure: (turnId, error) => report(`turn ${turnId}`, error),
  });
  const overdue = new OverdueTurns({ turns, log: turnLog, queue, clock, onEvent, onError });
  const service = createTurnService({
    turns,
    log: turnLog,
    queue,
    runner,
    projects,
    clock,
    rates: new ProtocolLimits(clock, limits),
    maxWaiting: limits.waitingTurns,
    limitsOf: (projectId) => limitsOf(options.projectLimits ?? {}, projectId),
    isStopping,
    onEvent,
  });
  return {
    service,
    hold,
    running: () => runner.running(),
    resting: () => runner.resting(),
    pendingApprovals: () => orion.store.approvals.countPending(),
    waiting: () => queue.waiting(),
    readerLagMs: () => orion.store.readerLagMs(),
    start() {
      runner.start();
      overdue.start();
    },
    async stop(drainMs, cut) {
      const stopped = overdue.stop();
      await runner.stop(drainMs, cut);
      await stopped;
    },
  };
}

function isQueueShared({ orion, queue }: OpenTurnsOptions): boolean {
  const canBe = orion.store.engineDatabase !== null;
  if (queue === 'pg-boss' && !canBe)
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The queue pg-boss needs a store in Postgres.',
      hint: 'Set DATABASE_URL, or leave ORION_QUEUE out.',
    });
  return canBe && queue !== 'in-process';
}

/**
 * Whoever takes a turn needs the files and the write sessions that its last owner left behind. Servers whose sessions are
 * in the store share it if their projects have the same folders, as on one volume; others only on one machine, too.
 */
function placeOf({ all }: Projects): string {
  const places = all.map(({ projectId, workspace, stateDirectory, sharesSessions }) => [
    projectId,
    ...(sharesSessions ? [workspace] : [hostname(), stateDirectory]),
  ]);
  return createHash('sha256').update(JSON.stringify(places)).digest('hex').slice(0, 32);
}

async function openQueue(
  options: OpenTurnsOptions,
  { isOnly }: ServingHold,
  onError: (error: unknown) => void,
): Promise<TurnQueue> {
  const { orion, clock, projectLimits = {} } = options;
  const perProject = runningLimits(projectLimits);
  const { servedTurns: turns, engineDatabase: database } = orion.store;
  if (database === null || !isQueueShared(options))
    return new InProcessQueue({ turns, clock, perProject, onError });
  return PgBossQueue.open({ database, turns, clock, isOnly, perProject, onError });
}

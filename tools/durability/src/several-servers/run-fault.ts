/** Turns on several servers of one Postgres while one fault after the other strikes, and what must hold afterwards. */
import { setTimeout as wait } from 'node:timers/promises';

import { createRandom } from '@orion/common';
import type { TestPostgres } from '@orion/testkit/postgres';

import { startCuttingProxy } from '../served-turns/cutting-proxy.ts';
import { makeDatabase } from '../served-turns/databases.ts';
import { judgeEvents, judgeFiles } from '../served-turns/judge.ts';
import { isRefused, TurnReader } from '../served-turns/reader.ts';
import type { ReadEvent } from '../served-turns/reader.ts';
import { makeStage } from '../served-turns/stage.ts';
import type { Served } from '../served-turns/stage.ts';
import { cutStatements, leastCuts } from './cut-statements.ts';
import { prepareFailover } from './failover.ts';
import { planOf } from './faults.ts';
import type { Fault, FaultPlan } from './faults.ts';
import { startGroup } from './group.ts';
import type { Group } from './group.ts';
import { describeUnfinished, judgeStore } from './judge-store.ts';
import { environmentOf } from './scenario.ts';
import type { ScenarioOptions } from './scenario.ts';
import { makeTasks } from './tasks.ts';
import type { Task } from './tasks.ts';
import { WatchedTurn } from './watched-turn.ts';

export type FaultOptions = ScenarioOptions & {
  readonly fault: Fault;
  /** As many as the fault needs, if it is null. */
  readonly turns: number | null;
  /** How long Postgres is away. */
  readonly outageMs: number;
  /** Of the ways of this fault. */
  readonly way: string;
  /** For what is chosen at random. */
  readonly seed: number;
};

export type FaultOutcome = {
  readonly seconds: number;
  /** How often a turn went on under another owner. */
  readonly moves: number;
  /** The longest time that a turn was without an owner, as its reader saw it. */
  readonly longestMoveMs: number;
  readonly silenceMs: number;
  /** What else there was of this fault. */
  readonly figures: Readonly<Record<string, unknown>>;
  readonly failures: readonly string[];
};

const AGAIN_MS = 100;
/** A client asks another server then. */
const SILENT_MS = 7_500;
const LAST_EVENTS = 6;

/** @param postgres in which the run makes a database of its own */
export async function runFault(
  options: FaultOptions,
  postgres: TestPostgres,
): Promise<FaultOutcome> {
  const plan = planOf(options.fault, options.outageMs, options.way);
  const { tasks, whole } = makeTasks(options.turns ?? plan.turns);
  const isAlone = options.servers === 1;
  const failover =
    options.fault === 'failover' ? await prepareFailover(options.way, options.sessions) : null;
  const database = new URL(await makeDatabase(failover?.url ?? postgres.url));
  const cutting = { isOn: plan.cuts === 'always' };
  const cut = cutStatements(createRandom(options.seed), cutting);
  const proxy = plan.cuts === 'never' ? null : await startCuttingProxy(postgres.port, cut);
  const way = new URL(database);
  if (proxy !== null) way.port = String(proxy.port);
  const queue = isAlone ? 'in-process' : 'pg-boss';
  const stage = await makeStage(whole, way.href, environmentOf(options.sessions, queue));
  const over = new AbortController();
  const { signal } = over;
  let running: Promise<unknown> = Promise.resolve();
  try {
    const { servers: count, isOneParent, seed } = options;
    const group = await startGroup(stage, { count, isOneParent, preload: plan.preload });
    const began = performance.now();
    const turns = tasks.map(
      (task, index) => new WatchedTurn(() => post(group, index, task, signal)),
    );
    const strikes: object[] = [];
    const misses: string[] = [];
    const striking = plan.strike({
      group,
      postgres,
      database: database.href,
      turns,
      outageMs: options.outageMs,
      failover,
      isOneParent,
      seed,
      cutting,
      signal,
      note: (strike) => strikes.push(strike),
      miss: (what) => misses.push(what),
    });
    const reading = turns.map(async (turn, index) => {
      await wait(index * plan.spacingMs, undefined, { signal });
      let connections = index;
      await turn.read(() => group.at((connections += 1)), signal);
    });
    running = Promise.allSettled([striking, ...reading]);
    const late = wait(plan.limitMs, 'late', { ref: false });
    const isLate = (await Promise.race([Promise.all([striking, ...reading]), late])) === 'late';
    const seen = outcomeOf(turns, began);
    const cuts = Object.fromEntries(proxy?.cuts ?? []);
    const figures = {
      ...(proxy === null ? {} : { cuts }),
      ...(failover === null ? {} : { [options.way]: failover.figures() }),
      ...(strikes.length === 0 ? {} : { strikes }),
    };
    if (isLate) {
      const failures = tasks.flatMap((task, index) => judgeTask(task, turns[index]?.events ?? []));
      const what = `not over after ${plan.limitMs / 1_000} s`;
      const unfinished = isAlone ? [] : await describeUnfinished(database.href);
      return { ...seen, figures, failures: [what, ...failures, ...unfinished] };
    }
    for (const turn of turns.filter((each) => failover?.isLeftBefore(each))) {
      turn.startOver();
      await turn.read(() => group.at(0));
    }
    const again = await readAgain(group.at(0), turns);
    await group.end();
    return {
      ...seen,
      figures,
      failures: [
        ...(failover?.judge(turns) ?? turns.flatMap(judgeReader)),
        ...tasks.flatMap((task, index) => {
          const turn = turns[index];
          if (turn !== undefined && failover?.mayBePaused(turn) === true) return [];
          return judgeTask(task, turn?.events ?? []);
        }),
        ...again,
        ...(await judgeFiles(whole, stage.workspace, false)).filter(
          (failure) =>
            !(plan.leavesFiles && failure.startsWith('files are left')) &&
            failover?.mayBeLeft(failure) !== true,
        ),
        ...(await judgeStore(database.href, !isAlone)),
        ...(isAlone ? [] : await describeUnfinished(database.href)),
        ...judgeTimes(plan, seen, turns),
        ...misses,
        ...(plan.cuts === 'always' ? judgeCuts(cuts, options.sessions) : []),
      ],
    };
  } finally {
    over.abort();
    proxy?.close();
    await stage.strike();
    await failover?.stop();
    // Readers end with the servers.
    await running;
  }
}

/** With the last events, since the run cannot be repeated as it was. */
export function judgeTask(
  { prompt, story }: Task,
  events: readonly ReadEvent[],
): readonly string[] {
  const failures = judgeEvents(story, events);
  if (failures.length === 0) return [];
  const steps = events.filter(({ type }) => !['chunk', 'write_progress'].includes(type));
  const ends = steps.slice(-LAST_EVENTS).map(({ id, data }) => `${id} ${JSON.stringify(data)}`);
  return [...failures, `its last events: ${ends.join('; ')}`].map((each) => `${prompt} ${each}`);
}

function judgeTimes(
  { moves: expected, limits }: FaultPlan,
  { moves, longestMoveMs, silenceMs }: Seen,
  turns: readonly WatchedTurn[],
): readonly string[] {
  const failures: string[] = [];
  const atMost = (what: string, found: number, most = Infinity): void => {
    if (found > most) failures.push(`${what} ${Math.round(found)}, not at most ${most}`);
  };
  const interrupted = turns.filter(({ events }) =>
    events.some(
      ({ type, data }) => type === 'error' && JSON.stringify(data).includes('TURN_INTERRUPTED'),
    ),
  );
  atMost('turns were interrupted:', interrupted.length, 0);
  if (expected === 'none') atMost('turns moved:', moves, 0);
  if (expected === 'some' && moves === 0) failures.push('no turn went to another owner');
  atMost('a turn had no owner for, in ms,', longestMoveMs, limits.moveMs);
  atMost('a reader saw nothing for, in ms,', silenceMs, limits.silenceMs);
  return failures;
}

function judgeCuts(
  cuts: Readonly<Record<string, number>>,
  sessions: FaultOptions['sessions'],
): readonly string[] {
  return Object.entries(leastCuts(sessions)).flatMap(([kind, least]) =>
    (cuts[kind] ?? 0) < least ? [`of ${kind}, only ${cuts[kind] ?? 0} answers were cut`] : [],
  );
}

type Seen = Omit<FaultOutcome, 'failures' | 'figures'>;

function outcomeOf(turns: readonly WatchedTurn[], began: number): Seen {
  const moves = turns.flatMap((turn) => turn.moves);
  return {
    seconds: (performance.now() - began) / 1_000,
    moves: moves.length,
    longestMoveMs: Math.max(0, ...moves.map(({ from, to }) => to - from)),
    silenceMs: Math.max(0, ...turns.map((turn) => turn.silenceMs)),
  };
}

export function judgeReader({ id, resets, losses }: WatchedTurn): readonly string[] {
  return resets + losses > 0 ? [`${id} began again for its reader`] : [];
}

/** A server may be away; the key makes the repetition the same turn. */
export async function post(
  group: Group,
  first: number,
  task: Pick<Task, 'prompt' | 'conversationId'>,
  signal?: AbortSignal,
): Promise<string> {
  const { prompt: content, conversationId } = task;
  for (let tries = 0; ; tries += 1) {
    signal?.throwIfAborted();
    try {
      const asking = group
        .at(first + tries)
        .ask('POST', '/api/chat/messages', { content, conversationId }, conversationId);
      const { status, body } = await orSilent(asking);
      if (status === 202) return (body as { readonly turnId: string }).turnId;
      // Its store is away, or it is stopping: another server may take it.
      if (status !== 503) throw new Error(`${status}: ${JSON.stringify(body)}`);
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    await wait(AGAIN_MS);
  }
}

/** Rejects as a connection that breaks does, if no answer comes. */
async function orSilent<Answer>(asking: Promise<Answer>): Promise<Answer> {
  const answer = await Promise.race([asking, wait(SILENT_MS, null, { ref: false })]);
  if (answer !== null) return answer;
  asking.catch(() => undefined);
  throw Object.assign(new Error('The server is silent'), { code: 'ECONNRESET' });
}

/** Whoever reads a turn later sees what its first reader has seen. */
export async function readAgain(
  server: Served,
  turns: readonly WatchedTurn[],
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const turn of turns) {
    const reader = new TurnReader(turn.id);
    await reader.read(server, () => 'more');
    if (JSON.stringify(reader.events) !== JSON.stringify(turn.events))
      failures.push(`another reader sees other events of ${turn.id}`);
  }
  return failures;
}

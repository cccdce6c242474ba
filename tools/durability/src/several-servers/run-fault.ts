/** Turns on several servers of one Postgres while one fault after the other strikes, and what must hold afterwards. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { TestPostgres } from '@orion/testkit/postgres';

import { makeDatabase } from '../served-turns/databases.ts';
import { judgeEvents, judgeFiles } from '../served-turns/judge.ts';
import { isAway, isRefused, TurnReader } from '../served-turns/reader.ts';
import type { ReadEvent } from '../served-turns/reader.ts';
import { makeStage } from '../served-turns/stage.ts';
import type { Served, Stage } from '../served-turns/stage.ts';
import { makeTasks } from './tasks.ts';
import type { Task } from './tasks.ts';
import { WatchedTurn } from './watched-turn.ts';

export type Fault = 'none' | 'kill' | 'term' | 'postgres';

export type FaultOptions = {
  readonly fault: Fault;
  readonly servers: number;
  readonly turns: number;
  /** In a database, each server has a state directory of its own. */
  readonly sessions: 'directory' | 'database';
  /** How long Postgres is away. */
  readonly outageMs: number;
};

export type FaultOutcome = {
  readonly seconds: number;
  /** How often a turn went on under another owner. */
  readonly moves: number;
  /** The longest time that a turn was without an owner, as its reader saw it. */
  readonly longestMoveMs: number;
  readonly silenceMs: number;
  readonly failures: readonly string[];
};

/** The limits of each promise. */
const TAKEOVER_MS = 12_000;
const HAND_OFF_MS = 1_000;
const SILENCE_MS = 2_000;
/** Turns are under way by then. */
const BEGUN_MS = 1_500;
const AGAIN_MS = 100;
const LIMIT_MS = 180_000;
const LAST_EVENTS = 6;

/** @param databases the Postgres in which the run makes a database of its own */
export async function runFault(
  options: FaultOptions,
  databases: TestPostgres,
): Promise<FaultOutcome> {
  const { tasks, whole } = makeTasks(options.turns);
  const isAlone = options.servers === 1;
  const database = await makeDatabase(databases.url);
  const stage = await makeStage(whole, database, (server, root) => ({
    ORION_QUEUE: isAlone ? 'in-process' : 'pg-boss',
    ORION_SESSIONS: options.sessions,
    ...(options.sessions === 'database' ? { ORION_STATE_DIR: join(root, `state-${server}`) } : {}),
  }));
  try {
    const servers = await Promise.all(Array.from({ length: options.servers }, () => stage.serve()));
    const began = performance.now();
    const turns = await Promise.all(
      tasks.map(async (task, index) => new WatchedTurn(await post(servers, index, task))),
    );
    const reading = Promise.all(
      turns.map((turn, index) => {
        let connections = index;
        return turn.read(() => at(servers, (connections += 1)));
      }),
    );
    const late = wait(LIMIT_MS, 'late', { ref: false });
    await strike(options, stage, servers, databases);
    if ((await Promise.race([reading, late])) === 'late')
      return outcomeOf(turns, began, [`not over after ${LIMIT_MS / 1000} s`]);
    const outcome = outcomeOf(turns, began, []);
    const again = await readAgain(at(servers, 0), turns);
    await end(servers);
    return {
      ...outcome,
      failures: [
        ...tasks.flatMap((task, index) => judgeTask(task, turns[index]?.events ?? [])),
        ...again,
        ...(await judgeFiles(whole, stage.workspace, false)).filter(
          // What a killed process was making is removed an hour later.
          (failure) => options.fault !== 'kill' || !failure.startsWith('files are left'),
        ),
        ...judgeTimes(options, outcome, turns),
      ],
    };
  } finally {
    await stage.strike();
  }
}

async function strike(
  { fault, outageMs }: FaultOptions,
  stage: Stage,
  servers: Served[],
  databases: TestPostgres,
): Promise<void> {
  switch (fault) {
    case 'none':
      return;
    case 'kill':
      await wait(BEGUN_MS);
      servers.shift()?.signal('SIGKILL');
      servers.push(await stage.serve());
      return;
    case 'term':
      await wait(BEGUN_MS);
      for (let replaced = servers.length; replaced > 0; replaced -= 1) {
        servers.push(await stage.serve());
        const server = servers.shift();
        server?.signal('SIGTERM');
        await server?.ended;
      }
      return;
    case 'postgres':
      await wait(BEGUN_MS);
      await databases.kill();
      await wait(outageMs);
      await databases.restart();
      return;
  }
  fault satisfies never;
}

/** With the last events, since the run cannot be repeated as it was. */
function judgeTask({ prompt, story }: Task, events: readonly ReadEvent[]): readonly string[] {
  const failures = judgeEvents(story, events);
  if (failures.length === 0) return [];
  const steps = events.filter(({ type }) => !['chunk', 'write_progress'].includes(type));
  const ends = steps.slice(-LAST_EVENTS).map(({ id, data }) => `${id} ${JSON.stringify(data)}`);
  return [...failures, `its last events: ${ends.join('; ')}`].map((each) => `${prompt} ${each}`);
}

function judgeTimes(
  { fault, outageMs }: FaultOptions,
  { moves, longestMoveMs, silenceMs }: Omit<FaultOutcome, 'failures'>,
  turns: readonly WatchedTurn[],
): readonly string[] {
  const failures: string[] = [];
  const atMost = (what: string, found: number, most: number): void => {
    if (found > most) failures.push(`${what} ${Math.round(found)}, not at most ${most}`);
  };
  const interrupted = turns.filter(({ events }) =>
    events.some(
      ({ type, data }) => type === 'error' && JSON.stringify(data).includes('TURN_INTERRUPTED'),
    ),
  );
  atMost('turns were interrupted:', interrupted.length, 0);
  switch (fault) {
    case 'none':
      atMost('turns moved:', moves, 0);
      break;
    case 'kill':
      if (moves === 0) failures.push('no turn was taken over');
      atMost('a takeover took, in ms,', longestMoveMs, TAKEOVER_MS);
      break;
    case 'term':
      if (moves === 0) failures.push('no turn was handed over');
      atMost('a hand-over took, in ms,', longestMoveMs, HAND_OFF_MS);
      atMost('a reader saw nothing for, in ms,', silenceMs, SILENCE_MS);
      break;
    case 'postgres':
      if (outageMs > TAKEOVER_MS) break;
      atMost('turns moved:', moves, 0);
      atMost('a reader saw nothing for, in ms,', silenceMs, outageMs + SILENCE_MS);
  }
  return failures;
}

function outcomeOf(
  turns: readonly WatchedTurn[],
  began: number,
  failures: readonly string[],
): FaultOutcome {
  const moves = turns.flatMap((turn) => turn.moves);
  return {
    seconds: (performance.now() - began) / 1_000,
    moves: moves.length,
    longestMoveMs: Math.max(0, ...moves.map(({ from, to }) => to - from)),
    silenceMs: Math.max(0, ...turns.map((turn) => turn.silenceMs)),
    failures,
  };
}

/** A server may be away; the key makes the repetition the same turn. */
async function post(servers: readonly Served[], first: number, task: Task): Promise<string> {
  const { prompt: content, conversationId } = task;
  for (let tries = 0; ; tries += 1) {
    try {
      const { status, body } = await at(servers, first + tries).ask(
        'POST',
        '/api/chat/messages',
        { content, conversationId },
        conversationId,
      );
      if (status === 202) return (body as { readonly turnId: string }).turnId;
      if (!isAway(status, body)) throw new Error(`${status}: ${JSON.stringify(body)}`);
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    await wait(AGAIN_MS);
  }
}

/** Whoever reads a turn later sees what its first reader has seen. */
async function readAgain(
  server: Served,
  turns: readonly WatchedTurn[],
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const turn of turns) {
    const reader = new TurnReader(turn.id);
    await reader.read(server, () => 'more');
    if (JSON.stringify(reader.events) !== JSON.stringify(turn.events))
      failures.push(`another reader sees other events of ${turn.id}`);
    if (turn.resets > 0) failures.push(`${turn.id} began again for its reader`);
  }
  return failures;
}

async function end(servers: readonly Served[]): Promise<void> {
  for (const server of servers) server.signal('SIGTERM');
  await Promise.all(servers.map(({ ended }) => ended));
}

function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('There is no server');
  return item;
}

/** The turns of a server without its sockets: a real agent with a scripted model, and a real store. */
import { createOrion } from '@orion/agent';
import type { Orion, OrionOptions } from '@orion/agent';
import { systemClock } from '@orion/contracts';
import type { RunEvent, TurnLogEntry, TurnSubmission } from '@orion/contracts';
import { createFakeAdapter } from '@orion/testkit';
import type { FakeAdapter, FakeClock, FakeReply } from '@orion/testkit';
import { expect, onTestFinished } from 'vitest';

import { DEFAULT_LIMITS } from '../limits.ts';
import { createLog } from '../operation/request-log.ts';
import type { LimitsByProject } from '../project-limits.ts';
import { projectsOf } from '../projects.ts';
import type { TurnRates } from '../turns/protocol-limits.ts';
import { openTurns } from '../turns/open-turns.ts';
import type { ServedTurnsHere } from '../turns/open-turns.ts';
import { temporaryDirectory } from './test-server.ts';

export type TestTurns = {
  readonly turns: ServedTurnsHere;
  readonly orion: Orion;
  readonly root: string;
  readonly adapter: FakeAdapter;
  /** What counts, as the metrics see it. */
  readonly seen: RunEvent[];
  readonly log: string[];
  /** Submits and answers the id. */
  readonly submit: (more?: Partial<TurnSubmission>) => Promise<string>;
  /** The log of a turn once it is over. */
  readonly ended: (turnId: string) => Promise<readonly TurnLogEntry[]>;
};

export type TestTurnsOptions = Partial<OrionOptions> & {
  readonly root?: string;
  readonly replies?: readonly FakeReply[];
  readonly slots?: number;
  readonly waitingTurns?: number;
  /** Of the queue and the runner, not of the agent. */
  readonly serverClock?: FakeClock;
  readonly rates?: Partial<TurnRates>;
  readonly projectLimits?: LimitsByProject;
  readonly isStopping?: () => boolean;
  readonly eventLoopDelayMs?: () => number;
  readonly projects?: (orion: Orion) => Readonly<Record<string, Orion>>;
};

export async function startTurns(options: TestTurnsOptions = {}): Promise<TestTurns> {
  const { replies = [], slots = 8, waitingTurns = 1_000, rates, projects, ...rest } = options;
  const { isStopping = () => false, eventLoopDelayMs = () => 0, serverClock, ...parts } = rest;
  const { projectLimits = {}, ...others } = parts;
  const { root = await temporaryDirectory(), ...orionOptions } = others;
  const adapter = createFakeAdapter(replies);
  const orion = await createOrion({ workspace: root, store: 'memory', adapter, ...orionOptions });
  const seen: RunEvent[] = [];
  const log: string[] = [];
  const turns = await openTurns({
    orion,
    projects: projectsOf(orion, projects?.(orion)),
    limits: { ...DEFAULT_LIMITS, turns: slots, waitingTurns, ...rates },
    projectLimits,
    clock: serverClock ?? systemClock,
    eventLoopDelayMs,
    log: createLog({ write: (line) => void log.push(line) }, 'test'),
    onEvent: (event) => void seen.push(event),
    isStopping,
  });
  onTestFinished(async () => {
    const stopped = turns.stop(0);
    await serverClock?.advance(10_000);
    await stopped;
    await turns.hold.release();
    await orion.close();
  });
  turns.start();
  return {
    turns,
    orion,
    root,
    adapter,
    seen,
    log,
    async submit(more = {}) {
      const submission = { ...MESSAGE, ...more };
      return (await turns.service.submit(submission, null)).turn.turnId;
    },
    async ended(turnId) {
      await expect
        .poll(async () => (await turns.service.find(turnId))?.state, { timeout: 10_000 })
        .toBe('done');
      return turns.service.log.read(turnId, 0);
    },
  };
}

export const MESSAGE: TurnSubmission = {
  projectId: 'p',
  content: 'q',
  mode: 'act',
  conversationId: null,
  protocol: null,
  metadata: {},
};

export const kindsOf = (entries: readonly TurnLogEntry[]): readonly string[] =>
  entries.map(({ kind }) => kind);

/** The data of the event with which a turn ended. */
export function doneOf(entries: readonly TurnLogEntry[]): Extract<RunEvent, { type: 'done' }> {
  expect(kindsOf(entries).filter((kind) => kind === 'done')).toHaveLength(1);
  const last = entries.at(-1);
  expect(last?.kind).toBe('done');
  return last?.data as unknown as Extract<RunEvent, { type: 'done' }>;
}

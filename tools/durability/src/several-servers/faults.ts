/** What strikes while turns run, and what may be seen of it. */
import { setTimeout as wait } from 'node:timers/promises';

import type { TestPostgres } from '@orion/testkit/postgres';

import type { Group } from './group.ts';

export type Scene = {
  readonly group: Group;
  readonly postgres: TestPostgres;
  /** How long Postgres is away. */
  readonly outageMs: number;
};

/** The longest time, in ms; what is left out has no limit. */
export type Limits = {
  /** A turn without an owner, as its reader sees it. */
  readonly moveMs?: number;
  /** A reader that sees nothing. */
  readonly silenceMs?: number;
};

export type FaultPlan = {
  /** How many turns there are, unless it is said. */
  readonly turns: number;
  /** Whether turns go from one owner to another. */
  readonly moves: 'none' | 'some' | 'any';
  readonly limits: Limits;
  /** Processes end in the middle of what they make; that is removed an hour later. */
  readonly leavesFiles: boolean;
  strike(scene: Scene): Promise<void>;
};

const TURNS = 20;
const TAKEOVER_MS = 12_000;
const HAND_OFF_MS = 1_000;
const SILENCE_MS = 2_000;
/** Far longer than a turn waits for an owner. */
const FROZEN_MS = 30_000;
/** Turns are under way by then. */
const BEGUN_MS = 1_500;

const QUIET: FaultPlan = {
  turns: TURNS,
  moves: 'none',
  limits: {},
  leavesFiles: false,
  strike: () => Promise.resolve(),
};

export type Fault = 'none' | 'kill' | 'stop' | 'term' | 'postgres' | 'lost-answer';

export function planOf(fault: Fault, outageMs: number): FaultPlan {
  switch (fault) {
    case 'none':
      return QUIET;
    case 'kill':
      return {
        ...QUIET,
        moves: 'some',
        limits: { moveMs: TAKEOVER_MS },
        leavesFiles: true,
        async strike({ group }) {
          await wait(BEGUN_MS);
          const [oldest] = await group.pids();
          if (oldest !== undefined) await group.replace(oldest, 'SIGKILL');
        },
      };
    case 'stop':
      return {
        ...QUIET,
        moves: 'some',
        async strike({ group }) {
          await wait(BEGUN_MS);
          const [oldest] = await group.pids();
          if (oldest === undefined) return;
          process.kill(oldest, 'SIGSTOP');
          await wait(FROZEN_MS);
          // It finds that its turns are over; whoever reads from it has waited and goes on.
          process.kill(oldest, 'SIGCONT');
        },
      };
    case 'term':
      return {
        ...QUIET,
        moves: 'some',
        limits: { moveMs: HAND_OFF_MS, silenceMs: SILENCE_MS },
        async strike({ group }) {
          await wait(BEGUN_MS);
          for (const pid of await group.pids()) await group.replace(pid, 'SIGTERM');
        },
      };
    case 'postgres': {
      const isShort = outageMs < TAKEOVER_MS;
      return {
        ...QUIET,
        moves: isShort ? 'none' : 'any',
        limits: isShort ? { silenceMs: outageMs + SILENCE_MS } : {},
        async strike({ postgres }) {
          await wait(BEGUN_MS);
          await postgres.kill();
          await wait(outageMs);
          await postgres.restart();
        },
      };
    }
    case 'lost-answer':
      return { ...QUIET, turns: 3 * TURNS, moves: 'any' };
  }
  fault satisfies never;
  throw new Error(`There is no fault ${String(fault)}`);
}

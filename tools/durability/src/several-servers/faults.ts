/** What strikes while turns run, and what may be seen of it. */
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import type { Preload } from '../served-turns/stage.ts';
import { strikeAtRandom, TAKES_CLOCK } from './chaos.ts';
import { WAYS } from './failover.ts';
import { wakeFrozen } from './freeze.ts';
import { restartEach } from './restart-each.ts';
import type { Scene } from './scene.ts';

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
  /** The time from one submission to the next. */
  readonly spacingMs: number;
  /** Whether turns go from one owner to another. */
  readonly moves: 'none' | 'some' | 'any';
  readonly limits: Limits;
  /** Processes end in the middle of what they make; that is removed an hour later. */
  readonly leavesFiles: boolean;
  /** Of answers of Postgres, the share of each statement. */
  readonly cuts: 'never' | 'always' | 'when it strikes';
  /** The run has failed if it takes longer, in ms. */
  readonly limitMs: number;
  /** For the first process. */
  readonly preload?: Preload;
  strike(scene: Scene): Promise<void>;
};

const TURNS = 20;
const DAY_SECONDS = 86_400;
const TAKEOVER_MS = 12_000;
const SILENCE_MS = 2_000;
/** Turns are under way by then. */
const BEGUN_MS = 1_500;
const SPACING_MS = 350;
const LIMIT_MS = 180_000;
const CHAOS_SPACING_MS = 500;
const CHAOS_LIMIT_MS = 120_000;

const QUIET: FaultPlan = {
  turns: TURNS,
  spacingMs: 0,
  moves: 'none',
  limits: {},
  leavesFiles: false,
  cuts: 'never',
  limitMs: LIMIT_MS,
  strike: () => Promise.resolve(),
};

export const FAULTS = [
  'none',
  'kill',
  'term',
  'postgres',
  'failover',
  'lost-answer',
  'stop',
  'clock',
  'chaos',
] as const;
export type Fault = (typeof FAULTS)[number];

/** In which ways a fault strikes, one run each. */
export function waysOf(fault: Fault): readonly string[] {
  switch (fault) {
    // A process freezes while it streams, when it has just become an owner, right before a file is in its place.
    case 'stop':
      return ['stream', 'claim', 'commit'];
    case 'failover':
      return WAYS;
    // By so many seconds; 31 days are more than anything is kept.
    case 'clock':
      return [`${31 * DAY_SECONDS}`, `-${31 * DAY_SECONDS}`, '40', '-40'];
    default:
      return [''];
  }
}

export function planOf(fault: Fault, outageMs: number, way: string): FaultPlan {
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
    case 'term':
      return {
        ...QUIET,
        moves: 'some',
        limits: { silenceMs: SILENCE_MS },
        async strike(scene) {
          await wait(BEGUN_MS);
          await restartEach(scene);
        },
      };
    case 'postgres': {
      const isShort = outageMs < TAKEOVER_MS;
      return {
        ...QUIET,
        moves: isShort ? 'none' : 'any',
        limits: isShort ? { silenceMs: outageMs + SILENCE_MS } : {},
        // An owner that nobody could tell of its session has streamed into it: that is put away.
        leavesFiles: !isShort,
        async strike({ postgres }) {
          await wait(BEGUN_MS);
          await postgres.kill();
          await wait(outageMs);
          await postgres.restart();
        },
      };
    }
    case 'failover':
      return {
        ...QUIET,
        turns: 2 * TURNS,
        // When the first one is over, others have not begun.
        spacingMs: SPACING_MS,
        moves: 'any',
        leavesFiles: true,
        async strike({ failover, turns, database }) {
          await failover?.strike(turns, database);
        },
      };
    case 'stop': {
      const mark = join(tmpdir(), `orion-stopped-${process.pid}-${way}`);
      return {
        ...QUIET,
        moves: way === 'stream' ? 'some' : 'any',
        limits: { moveMs: TAKEOVER_MS },
        leavesFiles: true,
        preload: {
          module: new URL('./preload/stop-itself.ts', import.meta.url),
          environment: { ORION_STOP_AT: way, ORION_STOPPED: mark },
        },
        async strike({ group }) {
          try {
            await wakeFrozen(group);
          } finally {
            await rm(mark, { force: true });
          }
        },
      };
    }
    case 'clock': {
      const preload = {
        module: new URL('../served-turns/preload/shift-clock.ts', import.meta.url),
        environment: { ORION_SHIFT_SECONDS: way },
      };
      return {
        ...QUIET,
        preload,
        // One that was there before the turns, and one that tidies up at its start while they run.
        async strike({ group }) {
          await wait(BEGUN_MS);
          await group.add(preload);
        },
      };
    }
    case 'lost-answer':
      return { ...QUIET, turns: 3 * TURNS, moves: 'any', cuts: 'always' };
    case 'chaos':
      return {
        turns: 2 * TURNS,
        spacingMs: CHAOS_SPACING_MS,
        moves: 'any',
        limits: {},
        leavesFiles: true,
        cuts: 'when it strikes',
        limitMs: CHAOS_LIMIT_MS,
        preload: TAKES_CLOCK,
        strike: strikeAtRandom,
      };
  }
  fault satisfies never;
  throw new Error(`There is no fault ${String(fault)}`);
}

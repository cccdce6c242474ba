import { fork } from 'node:child_process';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { LaneAnswer, LaneRequest } from './lane/lane-process.ts';
import type { KillOutcome } from './outcome.ts';
import { SOURCE_CONDITION } from './stage/providers.ts';

export type CrashOptions = {
  readonly kills: number;
  /** Of the first kill; the others follow it. */
  readonly seed: number;
  /** How many kills are under way at the same time. */
  readonly lanes?: number;
  /** The built command's file. */
  readonly command?: string;
  readonly onOutcome?: (outcome: KillOutcome) => void;
};

/** The command as it is built. */
export const BUILT_COMMAND: string = fileURLToPath(
  new URL('../../../apps/cli/dist/main.js', import.meta.url),
);

const LANES = 2;

/** Kills the built command so many times, and looks after each kill at what is left and whether it recovers. */
export async function runCrash(options: CrashOptions): Promise<readonly KillOutcome[]> {
  const { kills, seed, lanes = LANES, command = BUILT_COMMAND, onOutcome } = options;
  await access(command);
  const root = await mkdtemp(join(tmpdir(), 'orion-crash-'));
  const outcomes: KillOutcome[] = [];
  let next = 0;
  async function work(): Promise<void> {
    const lane = startLane();
    try {
      while (next < kills) {
        const request: LaneRequest = { seed: seed + next, main: command, root };
        next += 1;
        const outcome = await lane.kill(request);
        outcomes.push(outcome);
        onOutcome?.(outcome);
      }
    } finally {
      lane.end();
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(lanes, kills) }, work));
    return outcomes;
  } finally {
    // Folders of failures are evidence.
    if (outcomes.every(({ failures }) => failures.length === 0)) {
      await rm(root, { recursive: true, force: true });
    }
  }
}

type RunningLane = { kill(request: LaneRequest): Promise<KillOutcome>; end(): void };

function startLane(): RunningLane {
  const process = fork(fileURLToPath(new URL('./lane/lane-process.ts', import.meta.url)), {
    execArgv: [SOURCE_CONDITION],
  });
  const ended = new Promise<never>((_, reject) => {
    process.once('error', reject);
    process.once('exit', () => reject(new Error('a lane has ended by itself')));
  });
  ended.catch(() => undefined);
  return {
    kill: async (request) => {
      const answered = new Promise<LaneAnswer>((resolve) => process.once('message', resolve));
      process.send(request);
      const answer = await Promise.race([answered, ended]);
      if ('error' in answer) throw new Error(`kill with seed ${answer.seed}: ${answer.error}`);
      return answer.outcome;
    },
    end: () => {
      if (process.connected) process.disconnect();
    },
  };
}

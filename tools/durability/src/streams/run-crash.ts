import { access, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { shareOut } from '@orion/common';

import { forkModule } from '../processes.ts';
import type { LaneAnswer, LaneRequest } from './lane/lane-process.ts';
import type { KillOutcome } from './outcome.ts';

type CrashOptions = {
  readonly kills: number;
  /** Of the first kill; the others follow it. */
  readonly seed: number;
  /** How many kills are under way at the same time. */
  readonly lanes: number;
  /** The file of a built command, if not this tree's. */
  readonly command: string | null;
  readonly onOutcome: (outcome: KillOutcome) => void;
};

const BUILT_COMMAND: string = fileURLToPath(
  new URL('../../../../apps/cli/dist/main.js', import.meta.url),
);

/** Kills the built command so many times, and looks after each kill at what is left and whether it recovers. */
export async function runCrash(options: CrashOptions): Promise<readonly KillOutcome[]> {
  const { kills, seed, lanes, onOutcome } = options;
  const command = options.command ?? BUILT_COMMAND;
  await access(command);
  const root = await mkdtemp(join(tmpdir(), 'orion-crash-'));
  const outcomes: KillOutcome[] = [];
  const running = Array.from({ length: Math.min(lanes, kills) }, startLane);
  const seeds = Array.from({ length: kills }, (_, index) => seed + index);
  try {
    await shareOut(running, seeds, async (own, lane) => {
      const outcome = await lane.kill({ seed: own, main: command, root });
      outcomes.push(outcome);
      onOutcome(outcome);
    });
    return outcomes;
  } finally {
    for (const lane of running) lane.end();
    // Folders of failures are evidence.
    if (outcomes.every(({ failures }) => failures.length === 0)) {
      await rm(root, { recursive: true, force: true });
    }
  }
}

type RunningLane = { kill(request: LaneRequest): Promise<KillOutcome>; end(): void };

function startLane(): RunningLane {
  const process = forkModule(new URL('./lane/lane-process.ts', import.meta.url));
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

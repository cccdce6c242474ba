/**
 * SIGKILL at every call of every change, and at random moments of changes: afterwards each file has its old or its new
 * bytes, the next start leaves nothing behind, and the same change then succeeds.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { createRandom, shareOut } from '@orion/common';

import { checkFiles, checkNextStart, playEarlier } from '../changes/judge.ts';
import { makePlace } from '../changes/place.ts';
import { SCENARIOS } from '../changes/scenarios.ts';
import type { Scenario } from '../changes/scenarios.ts';
import { collect, SOURCE_CONDITION } from '../processes.ts';

export type CallOutcome = {
  readonly scenario: string;
  /** The command that repeats it. */
  readonly repeat: string;
  readonly killed: boolean;
  readonly failures: readonly string[];
};

type Ending = { readonly killed: boolean; readonly output: string };

type Moment =
  | { readonly kind: 'call'; readonly at: number }
  | { readonly kind: 'time'; readonly afterMs: number };

const SCRIPT = fileURLToPath(new URL('./call-process.ts', import.meta.url));
/** Two thousand processes start: from what the first one has compiled, each of them in a third of the time. */
const QUICK_START = {
  ...process.env,
  NODE_COMPILE_CACHE: join(tmpdir(), 'orion-durability-compiled'),
};
/** More calls than any scenario makes: nothing is killed. */
const NEVER = 1_000_000;

export type CallsOptions = {
  /** Only every nth call. */
  readonly every: number;
  readonly only: string;
  readonly at: number | null;
  readonly lanes: number;
  readonly onOutcome: (outcome: CallOutcome) => void;
};

/** Kills before each call that changes something, and after the last. */
export async function killAtEveryCall(options: CallsOptions): Promise<void> {
  const kills: { readonly scenario: Scenario; readonly at: number }[] = [];
  for (const scenario of SCENARIOS.filter(({ name }) => name.includes(options.only))) {
    const calls = await countCalls(scenario);
    for (let at = 0; at <= calls; at += 1) kills.push({ scenario, at });
  }
  const chosen = kills.filter(
    ({ at }, index) => index % options.every === 0 && (options.at === null || options.at === at),
  );
  await shareOut(Array.from({ length: options.lanes }), chosen, async ({ scenario, at }) => {
    const { failures, killed } = await kill(scenario, { kind: 'call', at });
    if (!killed) failures.push('it was not killed');
    const repeat = `npm run crash -- --calls '${scenario.name}' --at ${at}`;
    options.onOutcome({ scenario: scenario.name, repeat, killed, failures });
  });
}

/** About as long as a scenario's process lives. */
const LONGEST_MS = 600;

/** Kills a random change at a random moment: both follow from the seed. */
export async function killAtRandom(
  seeds: readonly number[],
  lanes: number,
  onOutcome: (outcome: CallOutcome) => void,
): Promise<void> {
  await shareOut(Array.from({ length: lanes }), seeds, async (seed) => {
    const random = createRandom(seed);
    const scenario = random.pick(SCENARIOS);
    const afterMs = random.next() * LONGEST_MS;
    const { failures, killed } = await kill(scenario, { kind: 'time', afterMs });
    const repeat = `npm run crash -- --seeds 1 --seed ${seed}`;
    onOutcome({ scenario: scenario.name, repeat, killed, failures });
  });
}

async function countCalls(scenario: Scenario): Promise<number> {
  const place = makePlace(scenario.initial, 'real');
  try {
    await playEarlier(place, scenario);
    const { output } = await play(place.root, scenario, { kind: 'call', at: NEVER });
    const count = Number(output);
    if (!Number.isSafeInteger(count) || count === 0) throw new Error(`${scenario.name}: ${output}`);
    return count;
  } finally {
    place.remove();
  }
}

async function kill(
  scenario: Scenario,
  moment: Moment,
): Promise<{ readonly killed: boolean; readonly failures: string[] }> {
  const place = makePlace(scenario.initial, 'real');
  const failures: string[] = [];
  try {
    await playEarlier(place, scenario);
    const { killed, output } = await play(place.root, scenario, moment);
    if (!killed && !/^\d+\n$/u.test(output)) failures.push(`it ended with ${output}`);
    const reported = killed ? 'killed' : null;
    checkFiles(place, scenario, reported, failures);
    await checkNextStart(place, scenario, reported, failures);
    return { killed, failures };
  } finally {
    place.remove();
  }
}

async function play(root: string, scenario: Scenario, moment: Moment): Promise<Ending> {
  const at = moment.kind === 'call' ? moment.at : NEVER;
  const child = spawn(
    process.execPath,
    [SOURCE_CONDITION, SCRIPT, root, scenario.name, String(at)],
    { stdio: ['ignore', 'pipe', 'pipe'], env: moment.kind === 'call' ? QUICK_START : process.env },
  );
  const output = collect(child.stdout, child.stderr);
  const closed = once(child, 'close');
  if (moment.kind === 'time') {
    await Promise.race([wait(moment.afterMs), closed]);
    child.kill('SIGKILL');
  }
  const [, signal] = (await closed) as [number | null, NodeJS.Signals | null];
  return { killed: signal === 'SIGKILL', output: output() };
}

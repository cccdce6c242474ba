import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';

import { takeOverBuiltins } from './src/simulation/builtins.ts';
import { runInProcesses } from './src/simulation/in-processes.ts';
import type { SeedsResult } from './src/simulation/in-processes.ts';
import { PLANTED_DEFECTS } from './src/simulation/planted-defects.ts';
import { runSeed } from './src/simulation/run-seed.ts';
import type { RunOutcome } from './src/simulation/run-seed.ts';
import { SharedDatabase } from './src/simulation/shared-database.ts';
import { takeOverFiles } from './src/simulation/simulated-files.ts';
import { World } from './src/simulation/world.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    /** The first one. */
    seed: { type: 'string', default: '1' },
    /** Among which the seeds are shared out. Traces and planted defects take one. */
    processes: { type: 'string', default: String(availableParallelism()) },
    /** Plants each defect, and passes if each is noticed within so many seeds. */
    planted: { type: 'boolean', default: false },
    /** Plants this one. */
    defect: { type: 'string' },
    /** Prints everything that happens. */
    trace: { type: 'boolean', default: false },
  },
});

/** Every so many runs one is repeated, and has to be the same. */
const REPEAT_EVERY = 50;

// The times that are measured are those of the machine.
const monotonic = performance.now.bind(performance);
const startedAt = monotonic();
const seconds = (): number => Math.round((monotonic() - startedAt) / 100) / 10;
const first = readCount('seed', values.seed);
const seeds = readCount('seeds', values.seeds);
const processes = values.trace ? 1 : readCount('processes', values.processes, 1);
let world = new World(0);

function takeOver(): void {
  takeOverFiles();
  takeOverBuiltins(() => ({ clock: world.clock, chance: world.ids }));
  process.on('unhandledRejection', (error) => {
    world.fail(`unhandled: ${error instanceof Error ? error.stack : String(error)}`);
  });
}

type Run = (seed: number, how?: { isCalm?: boolean; isSilent?: boolean }) => Promise<RunOutcome>;

/** Runs seeds with that defect, or with none. */
async function openRuns(name: string | null): Promise<Run> {
  const defect = name === null ? null : (PLANTED_DEFECTS[name] ?? null);
  const database = await SharedDatabase.open(world, defect?.sql ?? ((sql) => sql));
  const print = values.trace ? (line: string) => void process.stdout.write(`${line}\n`) : null;
  const run: Run = async (seed, { isCalm = false, isSilent = false } = {}) => {
    world = new World(seed, isSilent ? null : print);
    database.empty(world);
    return runSeed(world, { database, defect, isCalm });
  };
  // What is loaded at the first use would be there at another time in the first run.
  await run(0, { isCalm: true, isSilent: true });
  return run;
}

async function runSeeds(name: string | null): Promise<SeedsResult> {
  takeOver();
  const run = await openRuns(name);
  const sum = { turns: 0, faults: 0, givenUp: 0, resets: 0 };
  let longestMs = 0;
  const failed: number[] = [];
  for (let seed = first; seed < first + seeds; seed += 1) {
    const outcome = await run(seed);
    for (const key of ['turns', 'faults', 'givenUp', 'resets'] as const) sum[key] += outcome[key];
    longestMs = Math.max(longestMs, outcome.longestMs);
    const failures = [...outcome.failures];
    if ((seed - first) % REPEAT_EVERY === 0 || failures.length > 0) {
      const again = await run(seed, { isSilent: true });
      if (again.trace !== outcome.trace) failures.push('the same seed gave another trace');
    }
    if (failures.length === 0) continue;
    failed.push(seed);
    for (const failure of failures) process.stderr.write(`seed ${seed}: ${failure}\n`);
    const planted = name === null ? '' : ` --defect ${name}`;
    process.stderr.write(
      `  to repeat it: npm run simulate -- --seeds 1 --seed ${seed}${planted} --trace\n`,
    );
  }
  return { seeds, ...sum, longestMs, failed };
}

/** By which seed each defect was noticed. */
async function runPlanted(): Promise<object> {
  takeOver();
  const noticed: Record<string, number | null> = {};
  for (const name of Object.keys(PLANTED_DEFECTS)) {
    const run = await openRuns(name);
    noticed[name] = null;
    for (let seed = first; seed < first + seeds && noticed[name] === null; seed += 1)
      if ((await run(seed)).failures.length > 0) noticed[name] = seed;
  }
  process.exitCode = Object.values(noticed).includes(null) ? 1 : 0;
  return { planted: noticed };
}

async function runAll(): Promise<object> {
  const defect = values.defect ?? null;
  const result =
    processes > 1 && seeds > 1
      ? await runInProcesses({ first, seeds }, { processes, defect })
      : await runSeeds(defect);
  process.exitCode = result.failed.length === 0 ? 0 : 1;
  return result;
}

if (values.defect !== undefined && PLANTED_DEFECTS[values.defect] === undefined)
  throw new Error(`--defect is one of ${Object.keys(PLANTED_DEFECTS).join(', ')}`);
const line = values.planted ? await runPlanted() : await runAll();
process.stdout.write(`${JSON.stringify({ ...line, seconds: seconds() })}\n`);

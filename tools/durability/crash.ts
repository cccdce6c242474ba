import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';

import { killAtEveryCall, killAtRandom } from './src/call-kills/run-calls.ts';
import type { CallOutcome } from './src/call-kills/run-calls.ts';
import { formatFailure, formatReport } from './src/streams/report.ts';
import { runCrash } from './src/streams/run-crash.ts';
import { tracedKills } from './src/system-faults/strace.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string' },
    seeds: { type: 'string' },
    seed: { type: 'string' },
    lanes: { type: 'string', default: '2' },
    /** Another built command. */
    command: { type: 'string' },
    /** Only changes of these names, killed at their calls. */
    calls: { type: 'string' },
    at: { type: 'string' },
    'calls-every': { type: 'string', default: '1' },
  },
});
const ENOUGH_KILLS = 20;
const KILLS = 200;
const lanes = readCount('lanes', values.lanes);
const seed =
  values.seed === undefined
    ? Math.floor(Math.random() * 1_000_000_000)
    : readCount('seed', values.seed);

// The lanes get the signal too: their end is what ends the run, and then its folder is removed.
process.on('SIGINT', () => undefined);

const began = performance.now();
let failed = 0;
if (values.calls !== undefined || (values.seeds !== undefined && values.seed === undefined)) {
  await everyCall();
}
if (values.seeds !== undefined) await seeds(readCount('seeds', values.seeds));
else if (values.calls === undefined) await streams(readCount('kills', values.kills ?? `${KILLS}`));
const seconds = ((performance.now() - began) / 1000).toFixed(0);
process.stdout.write(`${seconds} s, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** Half of the seeds are streams of the built command, half are changes by themselves. */
async function seeds(count: number): Promise<void> {
  const half = Math.ceil(count / 2);
  process.stdout.write(`${half} changes killed at random moments, from seed ${seed}\n`);
  const counts = counter();
  const own = Array.from({ length: half }, (_, index) => seed + index);
  await killAtRandom(own, lanes, counts.add);
  counts.print();
  // A change that was never hit would pass whatever happens.
  if (half >= ENOUGH_KILLS && counts.killed() < half / 4) {
    process.stdout.write('too few changes were killed\n');
    failed += 1;
  }
  if (count > half) await streams(count - half);
}

async function everyCall(): Promise<void> {
  process.stdout.write('changes killed at every call\n');
  const counts = counter();
  await killAtEveryCall({
    every: readCount('calls-every', values['calls-every']),
    only: values.calls ?? '',
    at: values.at === undefined ? null : readCount('at', values.at),
    lanes,
    onOutcome: counts.add,
  });
  counts.print();
  if (values.calls !== undefined) return;
  const traced = tracedKills();
  for (const failure of traced.failures) process.stdout.write(`FAILED ${failure}\n`);
  failed += traced.failures.length;
  process.stdout.write(`${traced.kills} processes killed at a system call by strace\n`);
}

function counter(): {
  readonly add: (outcome: CallOutcome) => void;
  readonly killed: () => number;
  readonly print: () => void;
} {
  const outcomes: CallOutcome[] = [];
  return {
    add: (outcome) => {
      outcomes.push(outcome);
      if (outcome.failures.length === 0) return;
      failed += 1;
      process.stdout.write(
        `FAILED ${outcome.scenario}: ${outcome.failures.map((failure) => failure.slice(0, 300)).join('; ')}\n  again: ${outcome.repeat}\n`,
      );
    },
    killed: () => outcomes.filter(({ killed }) => killed).length,
    print: () => {
      for (const name of new Set(outcomes.map(({ scenario }) => scenario))) {
        const own = outcomes.filter(({ scenario }) => scenario === name);
        const killed = own.filter((outcome) => outcome.killed).length;
        process.stdout.write(`  ${name}: ${killed} of ${own.length} killed\n`);
      }
    },
  };
}

async function streams(kills: number): Promise<void> {
  process.stdout.write(`${kills} kills from seed ${seed}, ${lanes} at a time\n`);
  let done = 0;
  const outcomes = await runCrash({
    kills,
    seed,
    lanes,
    command: values.command === undefined ? null : resolve(values.command),
    onOutcome: (outcome) => {
      done += 1;
      if (outcome.failures.length > 0) process.stdout.write(formatFailure(outcome));
      else if (done % 20 === 0) process.stdout.write(`${done} of ${kills}\n`);
    },
  });
  process.stdout.write(`\n${formatReport(outcomes)}\n`);
  failed += outcomes.filter((outcome) => outcome.failures.length > 0).length;
  const inSession = outcomes.filter(({ found }) => found === 'session').length;
  // A harness that hits no session would pass whatever happens.
  if (kills < ENOUGH_KILLS || inSession >= kills / 3) return;
  process.stdout.write(`only ${inSession} kills hit a session\n`);
  failed += 1;
}

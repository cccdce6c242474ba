import { parseArgs } from 'node:util';

import { readCount } from '@orion/common';

import { runLanes } from './src/call-faults/lanes.ts';
import type { FaultReport } from './src/call-faults/lanes.ts';
import { runRealFaults } from './src/system-faults/real-faults.ts';
import { formatReport } from './src/call-faults/report.ts';
import { swapWhileWriting } from './src/swaps/swaps.ts';

const { values } = parseArgs({
  options: {
    /** Only scenarios whose name contains this. */
    only: { type: 'string', default: '' },
    /** Only this call of them, as a failure prints it. */
    at: { type: 'string' },
    /** Only every nth fault. */
    every: { type: 'string', default: '1' },
    lanes: { type: 'string', default: '2' },
    /** Skips the real failures and the race for a directory. */
    'no-real': { type: 'boolean', default: false },
  },
});

const SWAPS = 100_000;

const began = performance.now();
const outcomes: FaultReport[] = [];
const selection = {
  only: values.only,
  at: values.at === undefined ? null : readCount('at', values.at),
  every: readCount('every', values.every, 1),
};
await runLanes(readCount('lanes', values.lanes, 1), selection, (report) => {
  outcomes.push(report);
  if (report.failures.length > 0) {
    const failures = report.failures.map((line) => `  ${line}\n`).join('');
    process.stdout.write(`FAILED ${report.description}\n${failures}`);
  } else if (outcomes.length % 2_000 === 0) {
    process.stdout.write(`${outcomes.length} faults\n`);
  }
});
process.stdout.write(formatReport(outcomes));
const failed = outcomes.filter(({ failures }) => failures.length > 0).length;
const struck = outcomes.filter((outcome) => outcome.struck !== null).length;
process.stdout.write(`${outcomes.length} faults, ${struck} reached the code, ${failed} failed\n`);
const isWhole = !values['no-real'] && values.at === undefined;
const elsewhere = isWhole ? (await runRealFaults()) + (await raceSwaps()) : 0;
process.stdout.write(`${((performance.now() - began) / 1000).toFixed(0)} s\n`);
process.exitCode = failed + elsewhere === 0 && struck > 0 && struck === outcomes.length ? 0 : 1;

async function raceSwaps(): Promise<number> {
  if (process.platform !== 'linux') {
    process.stdout.write('SKIPPED: only Linux reaches names through descriptors\n');
    return 0;
  }
  const { swaps, changes, refusals, failures } = await swapWhileWriting(SWAPS);
  for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
  const refused = Object.values(refusals).reduce((sum, count) => sum + count, 0);
  process.stdout.write(
    `${swaps} swaps of a directory for a link, ${changes} changes got through, ${refused} were refused, ${failures.length} failed\n`,
  );
  return failures.length;
}

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { formatFailure, formatReport } from './src/report.ts';
import { runCrash } from './src/run-crash.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string' },
    lanes: { type: 'string', default: '2' },
    /** Another build of the command. */
    command: { type: 'string' },
  },
});
const ENOUGH_KILLS = 20;
const kills = readCount('kills', values.kills);
const lanes = readCount('lanes', values.lanes);
const seed =
  values.seed === undefined
    ? Math.floor(Math.random() * 1_000_000_000)
    : readCount('seed', values.seed);

// The lanes get the signal too: their end is what ends the run, and then its folder is removed.
process.on('SIGINT', () => undefined);

process.stdout.write(`${kills} kills from seed ${seed}, ${lanes} at a time\n`);
const began = performance.now();
let done = 0;
const outcomes = await runCrash({
  kills,
  seed,
  lanes,
  ...(values.command === undefined ? {} : { command: resolve(values.command) }),
  onOutcome: (outcome) => {
    done += 1;
    if (outcome.failures.length > 0) process.stdout.write(formatFailure(outcome));
    else if (done % 20 === 0) process.stdout.write(`${done} of ${kills}\n`);
  },
});
const failed = outcomes.filter((outcome) => outcome.failures.length > 0).length;
const seconds = ((performance.now() - began) / 1000).toFixed(0);
process.stdout.write(`\n${formatReport(outcomes)}\n${seconds} s, ${failed} failed\n`);
const inSession = outcomes.filter(({ found }) => found === 'session').length;
// A harness that hits no session would be content with everything.
const tooFew = kills >= ENOUGH_KILLS && inSession < kills / 3;
if (tooFew) process.stdout.write(`only ${inSession} kills hit a session\n`);
process.exitCode = failed === 0 && !tooFew ? 0 : 1;

function readCount(name: string, text: string): number {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 0) {
    process.stderr.write(`--${name} wants a whole number, not ${text}\n`);
    process.exit(2);
  }
  return count;
}

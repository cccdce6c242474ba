import { expect, test } from 'vitest';

import { formatFailure, formatReport } from '../crash/src/report.ts';
import { runCrash } from '../crash/src/run-crash.ts';

const KILLS = 20;

test('twenty kills at random moments cost at most the last 100 ms of text', async () => {
  const seed = Math.floor(Math.random() * 1_000_000_000);
  // Printed, since a test that nobody can repeat finds nothing.
  process.stdout.write(`crash test: ${KILLS} kills from seed ${seed}\n`);
  const outcomes = await runCrash({ kills: KILLS, seed });
  const failures = outcomes.filter((outcome) => outcome.failures.length > 0).map(formatFailure);
  expect(failures.join(''), formatReport(outcomes)).toBe('');
  expect(outcomes).toHaveLength(KILLS);
  expect(outcomes.filter(({ byteEqual, recovered }) => byteEqual && recovered)).toHaveLength(KILLS);
  // A harness that kills nothing would be content with everything.
  expect(outcomes.filter(({ found }) => found === 'session').length).toBeGreaterThan(KILLS / 3);
}, 120_000);

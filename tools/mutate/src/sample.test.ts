import { expect, test } from 'vitest';

import { withoutEquivalents } from './equivalents.ts';
import { mutantsOf } from './mutants.ts';
import { testsThatReach } from './run-mutants.ts';
import { sampleOf } from './sample.ts';

const items = Array.from({ length: 50 }, (_, index) => index);

test('a sample follows from its seed, and has nothing twice', () => {
  const sample = sampleOf(items, 20, 7);
  expect(sampleOf(items, 20, 7)).toEqual(sample);
  expect(sampleOf(items, 20, 8)).not.toEqual(sample);
  expect(new Set(sample).size).toBe(20);
  expect(sampleOf(items, 80, 7).toSorted((one, other) => one - other)).toEqual(items);
});

test('a change that changes nothing is left out, and one that is gone is reported', () => {
  const { mutants } = mutantsOf('a.ts', 'const a = b < c;');
  const reason = 'they are never equal';
  const known = { file: 'a.ts', from: 'const a = b < c;', to: 'const a = b <= c;', reason };
  const gone = { ...known, to: 'const a = b > c;' };
  const result = withoutEquivalents(mutants, [known, gone]);
  expect(result.mutants.map(({ to }) => to)).toEqual(['const a = b >= c;']);
  expect(result.stale).toEqual([gone]);
});

test('the tests beside the file come first, then the quick ones; others that do not reach it never', () => {
  const [mutant] = mutantsOf('p/a/a.ts', 'const a = b < c;').mutants;
  if (mutant === undefined) throw new Error('no mutant');
  const reached = [`p/a/a.ts#${mutant.probe}`];
  const survey = {
    tests: [
      { test: 'p/b/slow.test.ts', ms: 20, reached },
      { test: 'p/b/quick.test.ts', ms: 10, reached },
      { test: 'p/a/elsewhere.test.ts', ms: 1, reached: ['p/a/b.ts#0'] },
      { test: 'p/a/beside.test.ts', ms: 900, reached },
    ],
  };
  expect(testsThatReach(mutant, survey).map(({ test: name }) => name)).toEqual([
    'p/a/beside.test.ts',
    'p/b/quick.test.ts',
    'p/b/slow.test.ts',
  ]);
});

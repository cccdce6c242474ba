import { expect, test } from 'vitest';

import { bloatedTables } from './bloat.ts';

/** Hazard: a table that is never vacuumed passes, or one that is fails an hour of soak. */

const LARGE = { rows: 800_000, mostDead: 0, kb: 540_000 };
const SMALL = { rows: 50, mostDead: 3_000, kb: 300 };

test.each([
  ['grows with its rows', LARGE, { rows: 1_000_000, mostDead: 0, kb: 680_000 }],
  ['begins to drop its oldest rows', LARGE, { rows: 1_000_000, mostDead: 190_000, kb: 700_000 }],
  ['has as many dead rows as before', SMALL, { rows: 45, mostDead: 4_000, kb: 400 }],
])('a table that %s is as it should be', (_, before, after) => {
  expect(bloatedTables({ table: { before, after } })).toEqual([]);
});

test.each([
  ['keeps more dead rows than a vacuum lets be', LARGE, { ...LARGE, mostDead: 162_000 }],
  ['takes more room for the same rows', LARGE, { ...LARGE, kb: 700_000 }],
  ['has ever more dead rows beside a few', SMALL, { ...SMALL, mostDead: 5_000 }],
])('a table that %s is bloated', (_, before, after) => {
  expect(bloatedTables({ table: { before, after } })).toEqual(['table']);
});

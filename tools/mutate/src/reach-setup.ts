// Set up before every test file of a survey (`survey.ts`): what the file reaches is written when it is over.
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, expect } from 'vitest';

import { REACHED } from './instrument.ts';

const reached = new Set<string>();
Object.assign(globalThis, { [REACHED]: reached });

afterAll(() => {
  const test = expect.getState().testPath;
  const folder = process.env['ORION_MUTATE_REACHED'];
  if (test === undefined || folder === undefined) throw new Error('not part of a survey');
  const name = createHash('sha256').update(test).digest('hex');
  writeFileSync(join(folder, `${name}.json`), JSON.stringify({ test, reached: [...reached] }));
});

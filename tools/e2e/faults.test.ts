// @module-tag long
import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

/** A share of all faults, another one with another number; the whole is `npm run faults`. */
const EVERY = 251;

test('A3: a failing call leaves the old bytes or the new ones, nothing behind, and a retry that succeeds', async () => {
  const { exitCode, output } = await runTool('durability/faults.ts', [
    '--no-real',
    '--every',
    String(EVERY),
  ]);
  expect(exitCode, output).toBe(0);
  const [, faults = '0', struck = '-1'] =
    /(\d+) faults, (\d+) reached the code, 0 failed/u.exec(output) ?? [];
  expect(Number(faults), output).toBeGreaterThan(50);
  expect(struck).toBe(faults);
}, 120_000);

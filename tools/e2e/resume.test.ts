// @module-tag long
import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

/** A share; the whole is `npm run resume`. */
const EVERY = 37;

test('a served turn that is killed, stopped or cancelled anywhere continues, and every event arrives once', async () => {
  const seed = Math.floor(Math.random() * 1_000_000_000);
  const { exitCode, output } = await runTool('durability/resume.ts', [
    '--every',
    String(EVERY),
    '--store',
    'sqlite',
    '--story',
    'files',
    '--seed',
    String(seed),
  ]);
  process.stdout.write(`resume test: from seed ${seed}\n`);
  expect(exitCode, output).toBe(0);
  expect(output).toMatch(/^[1-9]\d* turns, [1-9]\d* interruptions, \d+ s, 0 failed$/mu);
}, 120_000);

// @module-tag long
import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

const CRASH = 'durability/crash.ts';
const KILLS = 5;

test('kills at random moments cost at most the last 100 ms of text', async () => {
  const seed = Math.floor(Math.random() * 1_000_000_000);
  const { exitCode, output } = await runTool(CRASH, [
    '--kills',
    String(KILLS),
    '--seed',
    String(seed),
  ]);
  // Printed, because a failure that cannot be repeated is worth nothing.
  process.stdout.write(`crash test: ${KILLS} kills from seed ${seed}\n`);
  expect(exitCode, output).toBe(0);
  expect(output).toMatch(/ 0 failed\n$/);
}, 120_000);

/** A share of all calls; the whole is `npm run crash -- --seeds 500`. */
const CALLS_EVERY = 149;

test('A2: a change that is killed at any call leaves the old bytes or the new ones, and can be made again', async () => {
  const { exitCode, output } = await runTool(CRASH, [
    '--calls',
    '',
    '--calls-every',
    `${CALLS_EVERY}`,
  ]);
  expect(exitCode, output).toBe(0);
  const killed = [...output.matchAll(/: (\d+) of \1 killed/gu)];
  expect(killed.length, output).toBeGreaterThan(10);
}, 120_000);

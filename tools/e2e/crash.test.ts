import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

const CRASH = 'durability/crash.ts';

/** Shares; the whole is `npm run crash -- --seeds 500`. */
for (const [kills, tags] of [
  [1, []],
  [5, ['long']],
] as const) {
  const title = `kills at random moments cost at most the last 100 ms of text: ${kills}`;
  test(title, { tags: [...tags], timeout: 120_000 }, async (context) => {
    const seed = Math.floor(Math.random() * 1_000_000_000);
    const args = ['--kills', String(kills), '--seed', String(seed)];
    const { exitCode, output } = await runTool(context, CRASH, args);
    // Printed, because a failure that cannot be repeated is worth nothing.
    process.stdout.write(`crash test: ${kills} kills from seed ${seed}\n`);
    expect(exitCode, output).toBe(0);
    expect(output).toMatch(/ 0 failed\n$/);
  });
}

/** A share of all calls. */
const CALLS_EVERY = 149;

test(
  'A2: a change that is killed at any call leaves the old bytes or the new ones, and can be made again',
  { tags: 'long', timeout: 120_000 },
  async (context) => {
    const args = ['--calls', '', '--calls-every', String(CALLS_EVERY)];
    const { exitCode, output } = await runTool(context, CRASH, args);
    expect(exitCode, output).toBe(0);
    const killed = [...output.matchAll(/: (\d+) of \1 killed/gu)];
    expect(killed.length, output).toBeGreaterThan(10);
  },
);

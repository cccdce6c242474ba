// @module-tag long
import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

/** A share of the attacks; the whole is `npm run hostile`. */
const EVERY = 17;

test('B1–B28: what a provider, a repository or another user does is held off', async () => {
  const { exitCode, output } = await runTool('hostile/main.ts', ['--every', String(EVERY)]);
  expect(exitCode, output).toBe(0);
  const [, made = '0', held = '-1', skipped = '0'] =
    /(\d+) attacks: (\d+) held off, 0 failed, (\d+) skipped/u.exec(output) ?? [];
  expect(Number(made), output).toBeGreaterThan(4);
  expect(Number(held) + Number(skipped), output).toBe(Number(made));
}, 180_000);

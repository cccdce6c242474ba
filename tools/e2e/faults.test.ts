import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

/** Shares of all faults, others with other numbers; the whole is `npm run faults`. */
for (const [every, least, tags] of [
  [2_503, 5, []],
  [251, 50, ['long']],
] as const) {
  const title = `A3: a failing call leaves the old bytes or the new ones, nothing behind, and a retry that succeeds: every ${every}th`;
  test(title, { tags: [...tags], timeout: 120_000 }, async (context) => {
    const args = ['--no-real', '--every', String(every)];
    const { exitCode, output } = await runTool(context, 'durability/faults.ts', args);
    expect(exitCode, output).toBe(0);
    const [, faults = '0', struck = '-1'] =
      /(\d+) faults, (\d+) reached the code, 0 failed/u.exec(output) ?? [];
    expect(Number(faults), output).toBeGreaterThanOrEqual(least);
    expect(struck).toBe(faults);
  });
}

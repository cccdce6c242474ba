import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

/** Shares of the attacks; the whole is `npm run hostile`. */
for (const [every, least, tags] of [
  [107, 1, []],
  [17, 5, ['long']],
] as const) {
  const title = `B1–B28: what a provider, a repository or another user does is held off: every ${every}th`;
  test(title, { tags: [...tags], timeout: 180_000 }, async (context) => {
    const args = ['--every', String(every)];
    const { exitCode, output } = await runTool(context, 'hostile/main.ts', args);
    expect(exitCode, output).toBe(0);
    const [, made = '0', held = '-1', skipped = '0'] =
      /(\d+) attacks: (\d+) held off, 0 failed, (\d+) skipped/u.exec(output) ?? [];
    expect(Number(made), output).toBeGreaterThanOrEqual(least);
    expect(Number(held) + Number(skipped), output).toBe(Number(made));
  });
}

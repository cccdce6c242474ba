import { expect, test } from 'vitest';

import { runTool } from './support/tool.ts';

/** Shares; the whole is `npm run resume`. */
for (const [every, story, tags] of [
  [389, 'words', []],
  [37, 'files', ['long']],
] as const) {
  const title = `a served turn that is killed, stopped or cancelled anywhere continues, and every event arrives once: ${story}, every ${every}th`;
  test(title, { tags: [...tags], timeout: 120_000 }, async (context) => {
    const seed = Math.floor(Math.random() * 1_000_000_000);
    const share = ['--every', String(every), '--store', 'sqlite', '--story', story];
    const args = [...share, '--seed', String(seed)];
    const { exitCode, output } = await runTool(context, 'durability/resume.ts', args);
    process.stdout.write(`resume test: from seed ${seed}\n`);
    expect(exitCode, output).toBe(0);
    expect(output).toMatch(/^[1-9]\d* turns, [1-9]\d* interruptions, \d+ s, 0 failed$/mu);
  });
}

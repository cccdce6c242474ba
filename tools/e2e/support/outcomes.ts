import { expect } from 'vitest';

import type { Finished } from './run.ts';
import type { Sandbox } from './sandbox.ts';

/** How a written document ended, judged by bytes alone. */
export type Outcome = 'exact' | 'paused' | 'unverified';

/**
 * Judges a document that was joined from several messages. Whatever the model did, it is exact, or paused with a
 * true beginning of it saved, or committed with a seam or an end that the command itself calls unproved: never
 * silently wrong.
 */
export async function judge(
  machine: Sandbox,
  ended: Finished,
  document: { readonly target: string; readonly text: string },
): Promise<Outcome> {
  const { target, text } = document;
  const written = await machine.find(target);
  if (written === null) {
    expect(ended.exitCode, ended.stderr).toBe(3);
    expect(ended.stderr).toContain('Paused (');
    const [session] = await machine.sessions();
    const saved = String(await session?.content());
    expect(text.startsWith(saved), `saved text is no beginning of ${target}`).toBe(true);
    return 'paused';
  }
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(await machine.sessions()).toEqual([]);
  const receipt = ended.stderr.split('\n').find((line) => line.startsWith(`Created ${target}: `));
  expect(receipt, ended.stderr).toBeDefined();
  // The last thing that a person reads says it too.
  const last = ended.stderr.trimEnd().split('\n').at(-1);
  if (receipt?.includes('unverified at line') === true) {
    expect(last).toMatch(/unverified/u);
    return 'unverified';
  }
  if (receipt?.includes('warning: ended_after_cut') === true) {
    expect(last).toMatch(/may lack its end/u);
    return 'unverified';
  }
  expect(String(written) === text, `${target} is silently wrong`).toBe(true);
  return 'exact';
}

/** The calls of a `--json` run that failed or were refused: tool and code. */
export function failedCalls(ended: Finished): readonly (readonly [tool: string, code: string])[] {
  return ended
    .events()
    .flatMap((event) =>
      event.type === 'tool_result' && event.error !== undefined
        ? [[event.toolName, event.error.code] as const]
        : [],
    );
}

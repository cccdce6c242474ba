import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { JsonValue, PlanReport } from '@orion/contracts';
import { expect, it } from 'vitest';
import { temporaryDirectory, openOrion } from './testing/set-up.ts';

/** Hazard: the text of a plan is judged by less than the text of a session. R105. */

async function applied(
  operation: { readonly [key: string]: JsonValue },
  old: string,
): Promise<{ readonly report: PlanReport; readonly text: string }> {
  const workspace = await temporaryDirectory();
  const orion = await openOrion({ workspace });
  await writeFile(join(workspace, 'a.txt'), old);
  const plan = { intent: 'a test', target_file: 'a.txt', operations: [operation] };
  const report = await orion.applyPlan(plan);
  return { report, text: await readFile(join(workspace, 'a.txt'), 'utf8') };
}

it('R095: every invalid place is named, with where it is and what stands around it', async () => {
  const content = 'one\nA\ud83dB\n\0\nlast \udc00';
  const { report, text } = await applied({ type: 'overwrite', content }, 'old\n');
  expect(report.results[0]?.error).toMatchObject({
    code: 'INVALID_CONTENT',
    message: expect.stringContaining('line 2, column 2') as string,
  });
  expect(report.results[0]).toMatchObject({
    error_details: {
      invalid_count: 3,
      invalid_contexts: [
        {
          index: 1,
          position: 5,
          byte_offset: 5,
          line: 2,
          column: 2,
          code: 'surrogate',
          context: { before: 'one\nA', invalid: '\\ud83d' },
        },
        { index: 2, line: 3, column: 1, code: 'nul' },
        { index: 3, line: 4, column: 6, code: 'surrogate' },
      ],
    },
  });
  expect(text).toBe('old\n');
});

const LEFT_OUT = 'first\n// ... rest of the code unchanged\nlast\n';

it.each([
  ['overwrite', { type: 'overwrite', content: LEFT_OUT }, 'one\ntwo\n'],
  [
    'replace',
    {
      type: 'replace',
      content: LEFT_OUT,
      location: { start_marker: 'one', end_marker: 'three' },
    },
    'one\ntwo\nthree\n',
  ],
])(
  'R249: left-out text is suspected in %s, which is done all the same',
  async (_name, operation, old) => {
    const { report, text } = await applied(operation, old);
    expect(report.results[0]).toMatchObject({
      status: 'done',
      warnings: ['omission_suspected'],
      omission_suspected: [2],
    });
    expect(report.text).toContain('Line 2 of the new text looks as if something was left out.');
    expect(text).toContain(LEFT_OUT.trim());
  },
);

it.each([
  ['the file held the line before', { type: 'overwrite', content: LEFT_OUT }, LEFT_OUT],
  ['nothing is replaced', { type: 'append', content: LEFT_OUT }, 'old\n'],
])('R249: and nothing is, where %s', async (_name, operation, old) => {
  const { report } = await applied(operation, old);
  expect(report.results[0]).toMatchObject({ status: 'done', warnings: [] });
  expect(report.results[0]).not.toHaveProperty('omission_suspected');
});

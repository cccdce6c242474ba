import { expect, it } from 'vitest';

import { reportOf } from './report.ts';
import type { ChangeOutcome } from './report.ts';

const change = (target: string, more: Partial<ChangeOutcome>): ChangeOutcome => ({
  target_file: target,
  operations: [0],
  status: 'done',
  before: null,
  operation: 'append',
  commit: null,
  ...more,
});

it.each([
  [[{}], ['1 file changed before that stays changed.']],
  [
    [{ willBeRestored: true }],
    ['1 file could not be restored now; the next start of orion does it.'],
  ],
  [
    [{}, { willBeRestored: true }, { willBeRestored: true }],
    [
      '1 file changed before that stays changed.',
      '2 files could not be restored now; the next start of orion does it.',
    ],
  ],
  [[{ status: 'restored' as const }], ['every file that had changed was restored.']],
])('R120: tells what stays changed from what a start restores (%j)', (outcomes, sentences) => {
  const report = reportOf({
    planId: 'p',
    intent: 'a test',
    status: 'failed',
    operations: [],
    changes: outcomes.map((more, index) => change(`${index}.txt`, more)),
    warnings: [],
  });
  expect(report.text.split('\n')).toHaveLength(sentences.length);
  for (const sentence of sentences) expect(report.text).toContain(sentence);
  expect(JSON.stringify(report.changes)).not.toContain('willBeRestored');
});

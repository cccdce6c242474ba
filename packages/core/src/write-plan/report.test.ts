import { OrionError } from '@orion/contracts';
import type { PlanReport } from '@orion/contracts';
import { expect, it } from 'vitest';

import { ENCODING_CHANGED, JOINED, MARK_LEFT_OUT } from './fitting-text.ts';
import { reportOf } from './report.ts';
import type { ChangeOutcome, OperationOutcome } from './report.ts';

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

const outcome = (more: Partial<OperationOutcome>): OperationOutcome => ({
  type: 'append',
  target_file: 'a.txt',
  status: 'done',
  error: null,
  bytes: 4,
  lines: 2,
  warnings: [],
  ...more,
});

function textFor(
  operations: readonly OperationOutcome[],
  status: PlanReport['status'] = 'done',
): string {
  return reportOf({ planId: 'p', intent: 'i', status, operations, changes: [], warnings: [] }).text;
}

it.each<[Partial<OperationOutcome>, string]>([
  [{ type: 'create' }, 'Created `a.txt` with 2 lines.'],
  [{ type: 'create', status: 'planned' }, 'Would create `a.txt` with 2 lines.'],
  [{ lines: 1 }, 'Appended 1 line to `a.txt`.'],
  [{ lines: 0, status: 'planned' }, 'Would append 0 lines to `a.txt`.'],
  [{ type: 'overwrite' }, 'Overwrote `a.txt` with 2 lines.'],
  [{ type: 'overwrite', status: 'planned' }, 'Would overwrite `a.txt` with 2 lines.'],
  [{ type: 'insert' }, 'Inserted 2 lines into `a.txt`.'],
  [{ type: 'insert', status: 'planned' }, 'Would insert 2 lines into `a.txt`.'],
  [{ type: 'replace' }, 'Replaced a block of `a.txt` with 2 lines.'],
  [{ type: 'replace', status: 'planned' }, 'Would replace a block of `a.txt` with 2 lines.'],
  [{ type: 'replace_all', occurrences: 1 }, 'Replaced 1 occurrence in `a.txt`.'],
  [{ type: 'replace_all' }, 'Replaced 0 occurrences in `a.txt`.'],
  [
    { type: 'replace_all', occurrences: 3, status: 'planned' },
    'Would replace 3 occurrences in `a.txt`.',
  ],
  [{ status: 'skipped' }, 'Operation 0 (append) on `a.txt` was not run.'],
  [{ status: 'restored' }, 'Operation 0 (append) on `a.txt` was taken back.'],
  [
    {
      status: 'failed',
      error: new OrionError({ code: 'INVALID_CONTENT', message: 'It is there.' }),
    },
    'Operation 0 (append) failed: It is there. (INVALID_CONTENT)',
  ],
  [
    {
      status: 'failed',
      type: '',
      error: new OrionError({ code: 'INVALID_CONTENT', message: 'It is there.' }),
    },
    'Operation 0 (of no known type) failed: It is there. (INVALID_CONTENT)',
  ],
  [{ status: 'failed' }, 'Operation 0 (append) failed:  ()'],
  [{ sibling: 'a.bak' }, 'Appended 2 lines to `a.txt`. Backup saved to `a.bak`.'],
  [
    { omissions: [3] },
    'Appended 2 lines to `a.txt`. Line 3 of the new text looks as if something was left out.',
  ],
  [
    { omissions: [3, 9] },
    'Appended 2 lines to `a.txt`. Lines 3, 9 of the new text look as if something was left out.',
  ],
  [
    { warnings: [JOINED, MARK_LEFT_OUT, ENCODING_CHANGED, 'created_missing'] },
    'Appended 2 lines to `a.txt`. ' +
      'The file did not end with a line ending, so its last line goes on with the new text. ' +
      'The byte order mark at the start of its text was left out. ' +
      'The file was not UTF-8 before; it is now. ' +
      'The file did not exist.',
  ],
])('says what happened: %j', (more, text) => {
  expect(textFor([outcome(more)])).toBe(text);
});

it('names a backup once, and each operation by its place', () => {
  expect(
    textFor([
      outcome({ sibling: 'a.bak' }),
      outcome({ sibling: 'a.bak' }),
      outcome({ sibling: 'b.bak' }),
      outcome({ status: 'skipped' }),
    ]),
  ).toBe(
    [
      'Appended 2 lines to `a.txt`. Backup saved to `a.bak`.',
      'Appended 2 lines to `a.txt`.',
      'Appended 2 lines to `a.txt`. Backup saved to `b.bak`.',
      'Operation 3 (append) on `a.txt` was not run.',
    ].join('\n'),
  );
  expect(textFor([outcome({ status: 'skipped' })], 'failed')).toBe(
    'Operation 0 (append) on `a.txt` was not run.\nThe plan failed; nothing was changed.',
  );
});

it('says nothing that is not known', () => {
  const plain = reportOf({
    planId: 'p',
    intent: 'i',
    status: 'done',
    operations: [outcome({})],
    changes: [change('a.txt', {})],
    warnings: ['w'],
  });
  expect(plain).toStrictEqual({
    plan_id: 'p',
    intent: 'i',
    status: 'done',
    text: 'Appended 2 lines to `a.txt`.',
    results: [
      {
        operation_index: 0,
        type: 'append',
        target_file: 'a.txt',
        status: 'done',
        error: null,
        bytes: 4,
        lines: 2,
        warnings: [],
      },
    ],
    changes: [
      {
        target_file: 'a.txt',
        operations: [0],
        status: 'done',
        before: null,
        after: null,
        not_kept: [],
      },
    ],
    receipts: [],
    warnings: ['w'],
  });
});

it('says all that is known', () => {
  const error = new OrionError({
    code: 'INVALID_CONTENT',
    message: 'It is there.',
    details: { path: 'a.txt' },
  });
  const { results, changes } = reportOf({
    planId: 'p',
    intent: 'i',
    status: 'failed',
    operations: [
      outcome({ status: 'failed', error, occurrences: 2, sibling: 'a.bak', omissions: [1] }),
      outcome({
        status: 'failed',
        error: new OrionError({ code: 'INVALID_CONTENT', message: 'It is there.' }),
      }),
    ],
    changes: [change('a.txt', { diff: 'd', diffCut: false, crlf: false })],
    warnings: [],
  });
  expect(results[0]).toMatchObject({
    error: error.toInfo(),
    error_details: { path: 'a.txt' },
    occurrences: 2,
    backup_path: 'a.bak',
    omission_suspected: [1],
  });
  expect(results[1]).not.toHaveProperty('error_details');
  expect(changes[0]).toMatchObject({ diff: 'd', diff_cut: false, crlf: false });
});

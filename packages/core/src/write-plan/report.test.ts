import { OrionError } from '@orion/contracts';
import type { CommitResult, PlanCommitOutcome, PlanReport } from '@orion/contracts';
import { expect, it } from 'vitest';

import type { PlannedEdit } from './plan-changes.ts';
import { ENCODING_CHANGED, JOINED, MARK_LEFT_OUT } from './fitting-text.ts';
import { emptyImage } from './file-image.ts';
import { reportOf } from './report.ts';
import type { FileOutcome, ReportFacts } from './report.ts';
import { snapshotOf } from './testing/memory-files.ts';

const RESULT: CommitResult = {
  path: 'a.txt',
  bytes: 4,
  lines: 2,
  sha256: 'f00',
  eol: 'lf',
  bom: false,
  mode: '0644',
  warnings: [],
  not_kept: [],
};

const DONE: PlanCommitOutcome = { kind: 'done', result: RESULT };

function file(path: string, index: number, outcome: FileOutcome['outcome']): FileOutcome {
  const expected = snapshotOf(path, null);
  const state = {
    path,
    exists: false,
    image: emptyImage,
    crlf: false,
    bom: false,
    open: null,
    held: null,
    readBase: () => {
      throw new Error('not read here');
    },
  };
  const change = { expected, state, operations: [index], givenBytes: 4, crlf: false };
  return { change: { ...change, operation: 'append' }, outcome };
}

function left(willBeRestored: boolean): PlanCommitOutcome {
  const error = new OrionError({ code: 'TARGET_CHANGED', message: 'It is another one.' });
  return { kind: 'left', result: RESULT, error, willBeRestored };
}

it.each<[readonly PlanCommitOutcome[], readonly string[]]>([
  [[DONE], ['1 file changed before that stays changed.']],
  [[left(false)], ['1 file changed before that stays changed.']],
  [[left(true)], ['1 file could not be restored now; the next start of orion does it.']],
  [
    [DONE, left(true), left(true)],
    [
      '1 file changed before that stays changed.',
      '2 files could not be restored now; the next start of orion does it.',
    ],
  ],
  [[{ kind: 'restored' }], ['every file that had changed was restored.']],
])('R120: tells what stays changed from what a start restores (%j)', (outcomes, sentences) => {
  const report = reportOf({
    planId: 'p',
    intent: 'a test',
    status: 'failed',
    verdicts: [],
    files: outcomes.map((outcome, index) => file(`${index}.txt`, index, outcome)),
    omissions: new Map(),
    warnings: [],
  });
  expect(report.text.split('\n')).toHaveLength(sentences.length);
  for (const sentence of sentences) expect(report.text).toContain(sentence);
  expect(JSON.stringify(report.changes)).not.toContain('willBeRestored');
});

/** One operation of a plan, alone on its file. */
type Operation = {
  readonly type?: string;
  readonly edit?: Partial<PlannedEdit>;
  readonly omissions?: readonly number[];
  /** Why it was refused; null when it comes after such a one. */
  readonly refused?: OrionError | null;
  /** Null: the plan ended before its file. */
  readonly outcome?: FileOutcome['outcome'] | null;
};

const EDIT: PlannedEdit = { givenBytes: 4, bytes: 4, lines: 2, startsAt: 0, warnings: [] };

function factsFor(
  operations: readonly Operation[],
  status: PlanReport['status'] = 'done',
): ReportFacts {
  return {
    planId: 'p',
    intent: 'i',
    status,
    verdicts: operations.map(({ type = 'append', edit, refused }) => {
      const own = { type, path: 'a.txt' };
      if (refused === null) return { ...own, kind: 'unjudged' };
      if (refused !== undefined) return { ...own, kind: 'refused', error: refused };
      return { ...own, kind: 'planned', edit: { ...EDIT, ...edit } };
    }),
    files: operations.flatMap(({ outcome = DONE }, index) =>
      outcome === null ? [] : [file('a.txt', index, outcome)],
    ),
    omissions: new Map(
      operations.flatMap(({ omissions }, index) =>
        omissions === undefined ? [] : [[index, omissions] as const],
      ),
    ),
    warnings: [],
  };
}

function textFor(operations: readonly Operation[], status?: PlanReport['status']): string {
  return reportOf(factsFor(operations, status)).text;
}

const ERROR = new OrionError({ code: 'INVALID_CONTENT', message: 'It is there.' });
const PLANNED = { kind: 'planned', diff: 'd', cut: false } as const;

it.each<[Operation, string]>([
  [{ type: 'create' }, 'Created `a.txt` with 2 lines.'],
  [{ type: 'create', outcome: PLANNED }, 'Would create `a.txt` with 2 lines.'],
  [{ edit: { lines: 1 } }, 'Appended 1 line to `a.txt`.'],
  [{ edit: { lines: 0 }, outcome: PLANNED }, 'Would append 0 lines to `a.txt`.'],
  [{ type: 'overwrite' }, 'Overwrote `a.txt` with 2 lines.'],
  [{ type: 'overwrite', outcome: PLANNED }, 'Would overwrite `a.txt` with 2 lines.'],
  [{ type: 'insert' }, 'Inserted 2 lines into `a.txt`.'],
  [{ type: 'insert', outcome: PLANNED }, 'Would insert 2 lines into `a.txt`.'],
  [{ type: 'replace' }, 'Replaced a block of `a.txt` with 2 lines.'],
  [{ type: 'replace', outcome: PLANNED }, 'Would replace a block of `a.txt` with 2 lines.'],
  [{ type: 'replace_all', edit: { occurrences: 1 } }, 'Replaced 1 occurrence in `a.txt`.'],
  [{ type: 'replace_all' }, 'Replaced 0 occurrences in `a.txt`.'],
  [
    { type: 'replace_all', edit: { occurrences: 3 }, outcome: PLANNED },
    'Would replace 3 occurrences in `a.txt`.',
  ],
  [{ outcome: { kind: 'skipped' } }, 'Operation 0 (append) on `a.txt` was not run.'],
  [{ outcome: null }, 'Operation 0 (append) on `a.txt` was not run.'],
  [{ refused: null, outcome: null }, 'Operation 0 (append) on `a.txt` was not run.'],
  [{ outcome: { kind: 'restored' } }, 'Operation 0 (append) on `a.txt` was taken back.'],
  [{ outcome: left(false) }, 'Appended 2 lines to `a.txt`.'],
  [
    { outcome: { kind: 'failed', error: ERROR } },
    'Operation 0 (append) failed: It is there. (INVALID_CONTENT)',
  ],
  [
    { refused: ERROR, outcome: null },
    'Operation 0 (append) failed: It is there. (INVALID_CONTENT)',
  ],
  [
    { type: '', refused: ERROR, outcome: null },
    'Operation 0 (of no known type) failed: It is there. (INVALID_CONTENT)',
  ],
  [
    { outcome: { ...DONE, sibling: 'a.bak' } },
    'Appended 2 lines to `a.txt`. Backup saved to `a.bak`.',
  ],
  [
    { omissions: [3] },
    'Appended 2 lines to `a.txt`. Line 3 of the new text looks as if something was left out.',
  ],
  [
    { omissions: [3, 9] },
    'Appended 2 lines to `a.txt`. Lines 3, 9 of the new text look as if something was left out.',
  ],
  [
    { edit: { warnings: ['created_missing', ENCODING_CHANGED, MARK_LEFT_OUT, JOINED] } },
    'Appended 2 lines to `a.txt`. ' +
      'The file did not end with a line ending, so its last line goes on with the new text. ' +
      'The byte order mark at the start of its text was left out. ' +
      'The file was not UTF-8 before; it is now. ' +
      'The file did not exist.',
  ],
])('says what happened: %j', (more, text) => {
  expect(textFor([more])).toBe(text);
});

it('names a backup once, and each operation by its place', () => {
  expect(
    textFor([
      { outcome: { ...DONE, sibling: 'a.bak' } },
      { outcome: { ...DONE, sibling: 'a.bak' } },
      { outcome: { ...DONE, sibling: 'b.bak' } },
      { outcome: { kind: 'skipped' } },
    ]),
  ).toBe(
    [
      'Appended 2 lines to `a.txt`. Backup saved to `a.bak`.',
      'Appended 2 lines to `a.txt`.',
      'Appended 2 lines to `a.txt`. Backup saved to `b.bak`.',
      'Operation 3 (append) on `a.txt` was not run.',
    ].join('\n'),
  );
  expect(textFor([{ outcome: { kind: 'skipped' } }], 'failed')).toBe(
    'Operation 0 (append) on `a.txt` was not run.\nThe plan failed; nothing was changed.',
  );
});

it('says nothing that is not known', () => {
  const skipped: PlanCommitOutcome = { kind: 'skipped' };
  expect(reportOf({ ...factsFor([{ outcome: skipped }]), warnings: ['w'] })).toStrictEqual({
    plan_id: 'p',
    intent: 'i',
    status: 'done',
    text: 'Operation 0 (append) on `a.txt` was not run.',
    results: [
      {
        operation_index: 0,
        type: 'append',
        target_file: 'a.txt',
        status: 'skipped',
        error: null,
        bytes: 0,
        lines: 0,
        warnings: [],
      },
    ],
    changes: [
      {
        target_file: 'a.txt',
        operations: [0],
        status: 'skipped',
        before: null,
        after: null,
        not_kept: [],
      },
    ],
    receipts: [],
    warnings: ['w'],
  });
  expect(reportOf(factsFor([{}])).results).toStrictEqual([
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
  ]);
});

it('says all that is known', () => {
  const details = { path: 'a.txt' };
  const error = new OrionError({ code: 'INVALID_CONTENT', message: 'It is there.', details });
  const { results, changes } = reportOf(
    factsFor([
      {
        edit: { occurrences: 2 },
        omissions: [1],
        outcome: { ...DONE, sibling: 'a.bak' },
      },
      { outcome: PLANNED },
      { refused: error, outcome: null },
      { refused: ERROR, outcome: null },
      { edit: { warnings: [JOINED] }, outcome: left(true) },
      { edit: { warnings: [JOINED] }, omissions: [1], outcome: left(false) },
      { edit: { occurrences: 2 }, omissions: [1], outcome: { kind: 'failed', error } },
    ]),
  );
  expect(results[0]).toMatchObject({
    occurrences: 2,
    backup_path: 'a.bak',
    omission_suspected: [1],
    warnings: ['omission_suspected'],
  });
  expect(results[2]).toMatchObject({ error: error.toInfo(), error_details: details, bytes: 0 });
  expect(results[3]).not.toHaveProperty('error_details');
  expect(results[4]).toMatchObject({
    status: 'done',
    bytes: 4,
    error: { code: 'TARGET_CHANGED' },
    warnings: ['restored_at_next_start'],
  });
  expect(results[5]).toMatchObject({ warnings: [JOINED, 'omission_suspected'] });
  expect(results[6]).toStrictEqual({
    operation_index: 6,
    type: 'append',
    target_file: 'a.txt',
    status: 'failed',
    error: error.toInfo(),
    error_details: details,
    bytes: 0,
    lines: 0,
    warnings: [],
  });
  expect(changes[0]).toMatchObject({ status: 'done', after: 'f00' });
  expect(changes[0]).not.toHaveProperty('diff');
  expect(changes[1]).toMatchObject({ diff: 'd', diff_cut: false, crlf: false });
  expect(changes[2]).toMatchObject({ status: 'done', after: 'f00' });
});

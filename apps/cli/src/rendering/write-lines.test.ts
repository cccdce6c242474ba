import type { WriteReceipt } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { RECEIPT } from '../testing/events.ts';
import { needsAttention, receiptLine, unprovedParts } from './write-lines.ts';

const SEAM = {
  line: 26,
  status: 'verified',
  via: 'recovery',
  lines_dropped: 5,
  text_set_aside: 0,
  conversion: 'none',
} as const;
const UNPROVED = { status: 'unverified' } as const;

const UNDO = '`orion undo`';

describe('the receipt as one line (R245)', () => {
  it.each<[string, Partial<WriteReceipt>, string, boolean]>([
    ['plain', {}, 'Created docs/n.txt: 240 lines, 2,052 bytes, sha256 c7632900127f', false],
    [
      'overwrite',
      { operation: 'overwrite', backup_id: 'b7' },
      'previous version kept as b7',
      false,
    ],
    ['append', { operation: 'append' }, 'Appended to docs/n.txt', false],
    ['a proved seam', { seams: [SEAM] }, 'joined from 2 parts, seam verified at line 26', false],
    [
      'an unproved seam',
      { seams: [SEAM, { ...SEAM, line: 1234, status: 'unverified' }] },
      'joined from 3 parts, seams verified at line 26, unverified at line 1,234',
      true,
    ],
    ['a fence', { fence_stripped: true }, 'code fence around it left out', false],
    ['a lead', { lead_dropped: true }, 'words before it left out', false],
    ['thinking', { thinking_set_aside: true }, 'thinking before it left out', false],
    ['blank lines', { leading_blank_lines_dropped: 2 }, '2 blank lines before it left out', false],
    [
      'a text that may be thinking',
      { warnings: ['opens_with_thinking'] },
      'warning: opens_with_thinking (it begins with a tag such as <think>, and nothing shows that this is not part of it)',
      true,
    ],
    ['a line ending', { final_newline_added: true }, 'last line ended', false],
    ['inner DONE', { inner_done_lines: [3, 9] }, 'DONE is part of the file at line 3, 9', false],
    ['trailing', { trailing: '/a/t.txt' }, 'text that is not part of it kept in /a/t.txt', false],
    ['not kept', { not_kept: ['xattrs'] }, 'not kept: xattrs', true],
    ['a warning', { warnings: ['slow disk'] }, 'warning: slow disk', true],
    [
      'text that stayed in its place, which is no warning of its own',
      { warnings: ['trailing_not_moved', '/tmp/a', 'slow disk'] },
      'warning: trailing_not_moved (text that is not part of it is still in /tmp/a); warning: slow disk',
      true,
    ],
    [
      'a last line that goes on',
      { warnings: ['joined_without_newline'] },
      'warning: joined_without_newline (the file did not end with a newline, so its last line goes on with the new text)',
      true,
    ],
    [
      'corrected text',
      { validation_summary: { ...RECEIPT.validation_summary, corrected: 2 } },
      '2 invalid places corrected by the model',
      false,
    ],
    [
      'replaced text',
      {
        validation_summary: {
          ...RECEIPT.validation_summary,
          replaced: 30,
          used_safe_replacement: true,
          replaced_at: [3, 3, 1200, 1201].map((line) => ({ line, column: 1, byte_offset: 9 })),
        },
      },
      '30 invalid places replaced by U+FFFD at line 3, 1,200, 1,201 …',
      true,
    ],
    [
      'a suspected omission',
      { validation_summary: { ...RECEIPT.validation_summary, omission_suspected: [12, 1300] } },
      'something may be left out at line 12, 1,300',
      true,
    ],
    [
      'invisible characters',
      {
        validation_summary: {
          ...RECEIPT.validation_summary,
          hidden_characters: 3,
          hidden_at: [
            { line: 2, code_point: 'U+202E' },
            { line: 2, code_point: 'U+2066' },
            { line: 9, code_point: 'U+202E' },
          ],
        },
      },
      '3 invisible characters at line 2, 9 (U+202E, U+2066)',
      true,
    ],
    ['memory', { persistence: 'memory' }, 'was not saved on disk while it was streamed', false],
  ])('%s', (_name, change, expected, attention) => {
    const receipt = { ...RECEIPT, ...change };
    expect(receiptLine(receipt, UNDO)).toContain(expected);
    expect(receiptLine(receipt, UNDO)).not.toContain('\n');
    expect(needsAttention(receipt)).toBe(attention);
  });

  it('says what takes it back, where something does', () => {
    const undoable = { ...RECEIPT, backup_id: 'b1' };
    expect(receiptLine(undoable, UNDO)).toMatch(
      / sha256 c7632900127f\. `orion undo` takes it back\.$/u,
    );
    expect(receiptLine(undoable, null)).toMatch(/ sha256 c7632900127f$/u);
    expect(receiptLine({ ...undoable, warnings: ['no_undo_record'] }, UNDO)).not.toContain('back');
    expect(receiptLine(RECEIPT, UNDO)).not.toContain('back');
  });

  const MANY = Array.from({ length: 300 }, (_, index) => index + 1);

  it('names the first five lines of each kind (R014)', () => {
    expect(receiptLine({ ...RECEIPT, inner_done_lines: MANY }, UNDO)).toMatch(
      /DONE is part of the file at line 1, 2, 3, 4, 5 …$/u,
    );
    expect(
      receiptLine({ ...RECEIPT, seams: MANY.map((line) => ({ ...SEAM, line })) }, UNDO),
    ).toMatch(/joined from 301 parts, seams verified at line 1, .*verified at line 5 …$/u);
  });

  it('never leaves out the seam that is not proved for those that are', () => {
    const seams = MANY.map((line) => ({ ...SEAM, line, ...(line === 300 ? UNPROVED : {}) }));
    expect(receiptLine({ ...RECEIPT, seams }, UNDO)).toContain('unverified at line 300 …');
    expect(unprovedParts({ ...RECEIPT, seams })[0]).toContain('an unverified seam at line 300:');
    const none = seams.map((seam) => ({ ...seam, ...UNPROVED }));
    expect(unprovedParts({ ...RECEIPT, warnings: ['ended_after_cut'] })).toEqual([
      'docs/n.txt may lack its end: the model was interrupted, and then only said that it is complete.',
    ]);
    expect(unprovedParts(RECEIPT)).toEqual([]);
    expect(unprovedParts({ ...RECEIPT, seams: none })[0]).toContain('at line 1, 2, 3, 4, 5 …:');
  });

  it('has at most 500 characters, whatever there is to tell, and tells first what needs a look', () => {
    const line = receiptLine(
      {
        ...RECEIPT,
        operation: 'append',
        backup_id: 'b'.repeat(40),
        trailing: `/${'t'.repeat(200)}`,
        persistence: 'memory',
        inner_done_lines: MANY.map((number) => number * 1_000_000),
        seams: MANY.map((number) => ({ ...SEAM, ...UNPROVED, line: number * 1_000_000 })),
        warnings: ['slow disk'],
        not_kept: ['xattrs'],
      },
      UNDO,
    );
    expect(line.length).toBeLessThanOrEqual(500);
    expect(line).toContain('unverified at line 1,000,000');
    expect(line).toContain('not kept: xattrs; warning: slow disk');
    expect(line).toMatch(/… `orion undo` takes it back\.$/u);
  });
});

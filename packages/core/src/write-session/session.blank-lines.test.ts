import type { WriteOperation } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { recordOf } from './advance.ts';
import { receiptNotesOf } from './session.ts';
import { SessionHarness } from './testing/session-harness.ts';

/** Hazard: blank lines of a chat template stand before the first line of the file, or are left out of one that has them. */

describe('R272: blank lines before the first line', () => {
  it.each<WriteOperation>(['create', 'overwrite'])(
    'are left out and counted by %s',
    (operation) => {
      for (const pieces of [['\n \n  a\nDONE'], ['\n', ' \n', '  ', 'a\nDO', 'NE']]) {
        const harness = new SessionHarness({ operation });
        harness.message(pieces);
        expect(harness.file).toBe('  a\n');
        expect(harness.session.blankLinesDropped).toBe(2);
        expect(recordOf(harness.session).leading_blank_lines_dropped).toBe(2);
        expect(receiptNotesOf(harness.session).leading_blank_lines_dropped).toBe(2);
      }
    },
  );

  it.each<WriteOperation>(['append', 'insert', 'replace'])('stay with %s', (operation) => {
    const harness = new SessionHarness({ operation });
    harness.message('\n \na\nDONE');
    expect(harness.file).toBe('\n \na\n');
    expect(harness.session.blankLinesDropped).toBe(0);
    expect(recordOf(harness.session)).not.toHaveProperty('leading_blank_lines_dropped');
    expect(receiptNotesOf(harness.session)).not.toHaveProperty('leading_blank_lines_dropped');
  });

  it('stay where begin says so', () => {
    const harness = new SessionHarness({ metadata: { keep_leading_blank_lines: true } });
    harness.message('\n\na\nDONE');
    expect(harness.file).toBe('\n\na\n');
    expect(harness.session.blankLinesDropped).toBe(0);
  });

  it('are none of a text that is broken off before its first line, and are counted anew', () => {
    const harness = new SessionHarness();
    harness.message('\n\n\n', { kind: 'length' });
    expect(harness.state).toBe('session_active.awaiting_content');
    harness.message('\na\nDONE');
    expect(harness.file).toBe('a\n');
    expect(harness.session.blankLinesDropped).toBe(1);
  });

  it('are content within the text, in later messages too', () => {
    const harness = new SessionHarness();
    harness.message('\na\nb of a text\nc and more of it\n', { kind: 'length' });
    harness.message('a\nb of a text\nc and more of it\n\n\nd\nDONE');
    expect(harness.file).toBe('a\nb of a text\nc and more of it\n\n\nd\n');
    expect(harness.session.blankLinesDropped).toBe(1);
  });

  it('are counted after a recovery too', () => {
    const before = new SessionHarness();
    before.message('\n\na\n', { kind: 'length' });
    const record = recordOf(before.session);
    const harness = new SessionHarness({ recovered: { content: 'a\n', record } });
    expect(harness.session.blankLinesDropped).toBe(2);
  });

  it('do not shift the lines and bytes of a question', async () => {
    const harness = new SessionHarness();
    harness.message('\n\n\na\nDONE\nI hope this helps you!\n');
    await harness.wait(2_000);
    expect(harness.prompts.at(-1)).toContain('Line 2 of what is saved for a.txt is DONE');
    harness.message('END 2');
    expect(harness.file).toBe('a\n');
  });
});

import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

function piecesOf(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; start += size)
    pieces.push(text.slice(start, start + size));
  return pieces;
}

describe('A1: a large file, its marker split', () => {
  it('is handed to the commit whole', () => {
    const harness = new SessionHarness({ target: 'docs/n.txt' });
    let text = '';
    for (let line = 1; line <= 240; line += 1) text += `line ${line}\n`;
    harness.message([...piecesOf(text, 7), 'D', 'ON', 'E']);
    expect(harness.file).toHaveLength(2052);
    expect(sha256(harness.file ?? '')).toBe(
      'c7632900127f200879a7466edccfc60ed8333efc1c4c8dd917d21aa8e9359127',
    );
    expect(harness.state).toBe('session_active.finalizing');
    harness.send({ type: 'finalize_ok' });
    expect([harness.state, harness.ended]).toEqual(['done', 'removed']);
  });
});

describe('A2: CRLF, fences, near misses', () => {
  it('keeps CRLF and the last line ending', () => {
    const harness = new SessionHarness();
    harness.message(['one\r', '\ntwo\r\nDO', 'NE \t']);
    expect(Buffer.from(harness.file ?? '').toString('hex')).toBe('6f6e650d0a74776f0d0a');
  });

  it('strips a fence around a code file', () => {
    const harness = new SessionHarness({ target: 'a.py' });
    harness.message('```python\nx = 1\n```\nDONE');
    expect(harness.file).toBe('x = 1\n');
    expect(harness.session.fenceStripped).toBe(true);
  });

  it('finalizes nothing for lines that only look like the marker', () => {
    const harness = new SessionHarness();
    harness.message('a\nDONENESS\n done\ndone\n');
    expect(harness.file).toBeNull();
    expect(harness.content).toBe('a\nDONENESS\n done\ndone\n');
    expect(harness.state).toBe('session_active.awaiting_done_or_more_content');
  });
});

describe('A3: DONE inside the content', () => {
  const text = 'Steps:\nDONE\nnot finished\n';

  it('asks after 2000 ms and not before, and takes DONE for all of it', async () => {
    const harness = new SessionHarness({ target: 'steps.txt' });
    harness.message(text);
    expect(harness.file).toBeNull();
    await harness.wait(1999);
    expect(harness.prompts).toHaveLength(0);
    await harness.wait(1);
    expect(harness.prompts).toHaveLength(1);
    expect(harness.prompts[0]).toContain('reply DONE on its own line');
    expect(harness.prompts[0]).toContain('Line 2 of what is saved for steps.txt is DONE');
    harness.message('DONE');
    expect(harness.file).toHaveLength(25);
    expect(sha256(harness.file ?? '')).toBe(
      '087cac30411fe242b8803dfb403fd5cd60d2b3dec698d3c20547ace7cce5b6bf',
    );
    expect(harness.session.innerDoneLines).toEqual([2]);
  });

  it('R042, R043: three prompts without an answer, then paused, never finalized', async () => {
    const harness = new SessionHarness({ target: 'steps.txt' });
    harness.message(text);
    for (let prompt = 1; prompt <= 3; prompt += 1) {
      await harness.wait(2000);
      expect(harness.prompts).toHaveLength(prompt);
      harness.message('');
    }
    await harness.wait(1999);
    expect(harness.state).toBe('session_active.awaiting_answer');
    await harness.wait(1);
    expect(harness.state).toBe('session_active.paused');
    expect(harness.prompts).toHaveLength(3);
    expect(harness.content).toBe(text);
    expect([harness.file, harness.ended]).toEqual([null, 'released']);
    expect(harness.record.question?.kind).toBe('end');
  });

  it('R023: END cuts the file there, keeps and tells the rest', async () => {
    const harness = new SessionHarness({ target: 'steps.txt' });
    harness.message(text);
    await harness.wait(2000);
    harness.message('END 2');
    expect(harness.file).toBe('Steps:\n');
    expect(harness.aside).toBe('DONE\nnot finished\n');
    expect(harness.rewinds).toEqual([7]);
  });

  it('R023: a reply that goes on with the file is joined', async () => {
    const harness = new SessionHarness({ target: 'steps.txt' });
    harness.message(text);
    await harness.wait(2000);
    harness.message(`${text}finished now\nDONE\n`);
    expect(harness.file).toBe(`${text}finished now\n`);
    expect(harness.session.seams.map((seam) => seam.status)).toEqual(['verified']);
  });
});

describe('A4: what the save timers and a recovery do', () => {
  const first = Array.from(
    { length: 30 },
    (_, index) => `row ${String(index + 1).padStart(2, '0')}\n`,
  );
  const second = Array.from({ length: 30 }, (_, index) => `row ${index + 31}\n`);

  it('R049: saves 5 s after the first unsaved byte, or after 50 lines', async () => {
    const harness = new SessionHarness({ target: 'rows.txt' });
    harness.send({ type: 'message_started' });
    for (const text of first) harness.send({ type: 'text', text });
    await harness.wait(4999);
    expect(harness.saves).toBe(0);
    await harness.wait(1);
    expect(harness.saves).toBe(1);
    for (const text of second.slice(0, 20)) harness.send({ type: 'text', text });
    for (const text of first) harness.send({ type: 'text', text });
    expect(harness.saves).toBe(2);
    await harness.wait(5000);
    expect(harness.saves).toBe(2);
  });

  it('joins behind the repeated anchor with one verified seam', () => {
    const harness = new SessionHarness({
      target: 'rows.txt',
      recovered: { content: first.join(''), record: null },
    });
    expect(harness.prompts[0]).toMatch(/^The session for rows\.txt was interrupted\./);
    expect(harness.prompts[0]).toContain('30 lines of rows.txt are saved');
    harness.message([...first.slice(25), ...second, 'DONE\n']);
    expect(sha256(harness.file ?? '')).toBe(
      'f333715b158f6dca8effbd05b021f385d0e3c2ed76f1a23b750b385421841571',
    );
    expect(harness.session.seams).toMatchObject([
      { line: 31, status: 'verified', via: 'recovery' },
    ]);
  });

  it('R047 rule 9: takes a clean reply without the anchor, and says that it is unverified', () => {
    const harness = new SessionHarness({
      target: 'rows.txt',
      recovered: { content: first.join(''), record: null },
    });
    harness.message([...second, 'DONE\n']);
    expect(sha256(harness.file ?? '')).toBe(
      'f333715b158f6dca8effbd05b021f385d0e3c2ed76f1a23b750b385421841571',
    );
    expect(harness.session.seams).toMatchObject([{ line: 31, status: 'unverified' }]);
    expect(harness.held).toBe('');
  });
});

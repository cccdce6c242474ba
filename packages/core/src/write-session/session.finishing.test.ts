import type { SessionRecord } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { receiptNotesOf } from './session.ts';
import { SessionHarness } from './testing/session-harness.ts';
import type { HarnessOptions } from './testing/session-harness.ts';

/** Hazard: the model says that its text is complete, and what is written is not the file that it meant. */

const LEAD = 'Sure, here is the file:\n\n';

async function answered(
  text: string,
  replies: readonly string[],
  options: HarnessOptions = {},
): Promise<SessionHarness> {
  const harness = new SessionHarness(options);
  harness.message(text);
  for (const reply of replies) {
    await harness.wait(2000);
    harness.message(reply);
  }
  return harness;
}

/** The first words of each prompt. */
function asked({ prompts }: SessionHarness): readonly string[] {
  return prompts.map((prompt) => prompt.split(/[\d:.]/u, 1)[0]?.trim() ?? '');
}

describe('R271: words that announce the file', () => {
  it('are asked about once the text is complete, and DROP leaves them out', async () => {
    const harness = await answered(`${LEAD}one\ntwo\nDONE`, []);
    expect(harness.prompts).toEqual([
      'The text for a.txt begins with: Sure, here is the file:\nReply DROP if that is not part of the file (it will be left out). Reply KEEP if it is.',
    ]);
    harness.message('DROP');
    expect([harness.file, harness.aside]).toEqual(['one\ntwo\n', LEAD]);
    expect(harness.record).toMatchObject({
      content_start: 25,
      lead_asked: true,
      lead_dropped: true,
    });
    expect(receiptNotesOf(harness.session)).toEqual({
      fence_stripped: false,
      lead_dropped: true,
      warnings: [],
    });
  });

  it('stay for KEEP, and are not asked about again', async () => {
    const harness = await answered(`${LEAD}one\ntwo\nDONE`, ['KEEP']);
    expect([harness.file, harness.aside]).toEqual([`${LEAD}one\ntwo\n`, '']);
    expect(receiptNotesOf(harness.session)).not.toHaveProperty('lead_dropped');
    harness.send({ type: 'omissions_suspected', omissions: [{ line: 3, text: '...' }] });
    harness.message('KEEP');
    expect(asked(harness)).toHaveLength(2);
  });

  it('are asked about until the answer is one of the two, then the session waits', async () => {
    const harness = await answered(`${LEAD}one\nDONE`, ['DONE', 'Yes.', 'three\nfour\n']);
    await harness.wait(2000);
    expect(harness.prompts[1]).toMatch(
      /^That was no answer\. Reply with one of these, alone on a line: DROP, KEEP\nThe text for/u,
    );
    harness.message('x');
    await harness.wait(2000);
    expect([harness.state, harness.file]).toEqual(['session_active.paused', null]);
    expect(harness.record.question).toEqual({
      kind: 'lead',
      text: 'Sure, here is the file:',
      contentStart: 25,
    });
    harness.send({ type: 'finalize_command', answer: { kind: 'drop' } });
    expect(harness.file).toBe('one\n');
  });

  it('are all that came: DROP leaves nothing, so the file is asked for', async () => {
    const harness = await answered(`${LEAD}DONE`, ['DROP']);
    await harness.wait(2000);
    expect(asked(harness)).toEqual(['The text for a', 'You wrote DONE, but no content for a']);
    expect([harness.file, harness.aside]).toEqual([null, LEAD]);
    harness.message('one\nDONE');
    expect(harness.file).toBe('one\n');
    expect(receiptNotesOf(harness.session)).not.toHaveProperty('lead_dropped');

    const kept = await answered(`${LEAD}DONE`, ['KEEP']);
    expect(kept.file).toBe(LEAD);
  });

  it('are not looked for in what is added to a file', async () => {
    for (const operation of ['append', 'insert', 'replace'] as const) {
      const harness = await answered(`${LEAD}one\nDONE`, [], { operation });
      expect([harness.file, harness.prompts]).toEqual([`${LEAD}one\n`, []]);
    }
    const harness = await answered(`${LEAD}one\nDONE`, ['DROP'], { operation: 'overwrite' });
    expect(harness.file).toBe('one\n');
  });

  it('are kept without a question when a person has the text written', async () => {
    const harness = await answered(`${LEAD}one\n`, []);
    harness.send({ type: 'cancelled' });
    harness.send({ type: 'finalize_command', answer: null });
    expect([harness.file, harness.prompts]).toEqual([`${LEAD}one\n`, []]);
  });

  it('wait for the end of a message that goes on behind its end marker', () => {
    const harness = new SessionHarness();
    harness.send({ type: 'message_started' });
    harness.send({ type: 'text', text: `${LEAD}one\nDONE 7f3a\nI hope` });
    expect([harness.prompts, harness.chat]).toEqual([[], 'I hope']);
    harness.send({ type: 'message_ended', end: { kind: 'stop' } });
    expect(asked(harness)).toEqual(['The text for a']);
  });

  it('are asked about at once where the end marker is the last word of the message, without a line ending', () => {
    const harness = new SessionHarness();
    harness.message(`${LEAD}one\nDONE 7f3a`);
    expect(asked(harness)).toEqual(['The text for a']);
  });
});

describe('Z1: one question swallows no other', () => {
  it('after the DONE of where the file ends, its last words are asked about (R023, R021)', async () => {
    const harness = await answered('Buy milk\nDONE\nWrite to Ann\nDONE.', ['DONE', 'DONE']);
    expect(asked(harness)).toEqual(['Line', 'Your message ended with']);
    expect([harness.file, harness.aside]).toEqual(['Buy milk\nDONE\nWrite to Ann\n', 'DONE.']);
  });

  it('also when a recovery lies between them', async () => {
    const first = await answered('Buy milk\nDONE\nWrite to Ann\nDONE.\n', []);
    await first.wait(2000);
    const harness = new SessionHarness({
      recovered: { content: first.content, record: first.record },
    });
    harness.message('DONE');
    harness.message('DONE');
    expect(harness.file).toBe('Buy milk\nDONE\nWrite to Ann\n');
  });

  it('but END leaves no last words to ask about', async () => {
    const harness = await answered('Buy milk\nDONE\nWrite to Ann\nDONE.', ['END 2']);
    expect([harness.file, harness.prompts.length]).toEqual(['Buy milk\n', 1]);
  });

  it('a DONE line of a message that broke is asked about before the last words of the next', async () => {
    const harness = new SessionHarness();
    const broken = { kind: 'error', code: 'STREAM_BROKEN', message: '', retryable: true } as const;
    harness.message('one line of it\nDONE\nI am finished now.\nand another line\n', broken);
    harness.message('one line of it\nDONE\nI am finished now.\nand another line\nmore\n**DONE**\n');
    await harness.wait(2000);
    expect(harness.record.question).toMatchObject({ kind: 'end', candidates: [{ line: 2 }] });
    harness.message('DONE');
    harness.message('DONE');
    expect(harness.file).toBe('one line of it\nDONE\nI am finished now.\nand another line\nmore\n');
  });

  it('last words, fence, lead: each is asked about in its turn (R032, R271)', async () => {
    const text = '```text\nHere is the file:\n\none\ntwo\n```\nDONE.\n';
    const harness = await answered(text, ['DONE', 'STRIP', 'DROP'], { target: 'a.txt' });
    expect(harness.prompts.map((prompt) => prompt.split('\n', 1)[0])).toEqual([
      'Your message ended with: DONE.',
      'The text for a.txt begins with ```text and ends with ```.',
      'The text for a.txt begins with: Here is the file:',
    ]);
    expect(harness.file).toBe('one\ntwo\n');
    expect(harness.aside).toBe('```text\nHere is the file:\n\n```\nDONE.\n');
  });
});

describe('R032: Markdown around one listing, whatever the file is called', () => {
  const TEXT = 'Run the checks:\n\n```bash\nnpm test\n```\n\nNever push to main.\n';

  it.each(['.cursorrules', 'rules/base.mdc', 'README.md.tmpl'])('is written to %s', (target) => {
    const harness = new SessionHarness({ target });
    harness.message(`${TEXT}DONE`);
    expect(harness.file).toBe(TEXT);
  });

  it('is asked about where the name does not say what the file is', async () => {
    const harness = await answered(`${TEXT}DONE`, ['KEEP'], { target: 'team.house-style' });
    expect([asked(harness).length, harness.file]).toEqual([1, TEXT]);
  });
});

it('B3: what the file is, is written down before it is written', () => {
  let written: SessionRecord | null = null;
  let atFinalize: SessionRecord | null = null;
  const harness: SessionHarness = new SessionHarness({
    target: 'a.ts',
    observe: (_input, effects) => {
      for (const { type } of effects) {
        if (type === 'save') written = harness.record;
        if (type === 'finalize') atFinalize = written;
      }
    },
  });
  harness.message('```ts\nconst a = 1;\n```\nDONE');
  expect(harness.file).toBe('const a = 1;\n');
  expect(atFinalize).toMatchObject({ fence_stripped: true, content_start: 6, content_end: 19 });
});

describe('Z2: what is left is judged, not what arrived', () => {
  it('a fence that only closes before the end is left out', async () => {
    const text = '```ts\nconst a = 1;\n```\nDONE\nI hope this helps you!\n';
    const harness = await answered(text, ['END 4'], { target: 'a.ts' });
    expect(harness.file).toBe('const a = 1;\n');
    expect(harness.record).toMatchObject({
      fence_stripped: true,
      content_start: 6,
      content_end: 19,
    });
  });

  it('also for a person who names the end', async () => {
    const text = '```ts\nconst a = 1;\n```\nDONE\nI hope this helps you!\n';
    const harness = await answered(text, [], { target: 'a.ts' });
    harness.send({ type: 'cancelled' });
    harness.send({ type: 'finalize_command', answer: { kind: 'end', line: 4 } });
    expect(harness.file).toBe('const a = 1;\n');
  });

  it('a recovery finds what was decided, and asks for no more text', async () => {
    const first = await answered('one\nDONE\nThat is all.\n', ['END 2']);
    const harness = new SessionHarness({
      recovered: { content: first.content, record: first.record },
    });
    expect([harness.prompts, harness.file]).toEqual([[], 'one\n']);
    const dropped = await answered(`${LEAD}one\nDONE`, ['DROP']);
    const again = new SessionHarness({
      recovered: { content: dropped.content, record: dropped.record },
    });
    expect([again.prompts, again.file]).toEqual([[], 'one\n']);
    expect(receiptNotesOf(again.session).lead_dropped).toBe(true);
  });
});

describe('R295: DONE stands on a line of its own', () => {
  it.each([
    ['a DONE of a later message', 'x = 1\ny = 2', 'DONE', 'x = 1\ny = 2\n'],
    ['with CRLF', 'x = 1\r\ny = 2', 'DONE', 'x = 1\r\ny = 2\r\n'],
    ['with a CR already there', 'x = 1\r\ny = 2\r', 'DONE', 'x = 1\r\ny = 2\r\n'],
    ['a DONE that is glued to the line', 'x = 1\ny = 2DONE', 'DONE', 'x = 1\ny = 2\n'],
    ['behind blanks', 'x = 1\ny = 2 DONE', 'DONE', 'x = 1\ny = 2\n'],
    ['its own end marker', 'x = 1\ny = 2', 'DONE 7f3a', 'x = 1\ny = 2\n'],
  ])('%s gives the last line its ending', async (_name, text, reply, file) => {
    const harness = await answered(text, [reply], { target: 'a.py' });
    expect(harness.file).toBe(file);
    expect(receiptNotesOf(harness.session)).toMatchObject({ final_newline_added: true });
  });

  it('also behind text that a DONE line stands in, but not where a person says so', async () => {
    const text = 'one\nDONE\nlast';
    const harness = await answered(text, ['DONE']);
    expect(harness.file).toBe(`${text}\n`);
    const byHand = await answered(text, []);
    byHand.send({ type: 'cancelled' });
    byHand.send({ type: 'finalize_command', answer: { kind: 'done' } });
    expect(byHand.file).toBe(text);
  });

  it.each<[string, string, string, HarnessOptions, string]>([
    ['a complete last line', 'one\n', 'DONE', {}, 'one\n'],
    ['a last line of blanks', 'one\n  ', 'DONE', {}, 'one\n  '],
    ['final_newline false', 'one', 'DONE', { finalNewline: false }, 'one'],
    ['an insertion', 'one', 'DONE', { operation: 'insert' }, 'one'],
    ['a replaced block', 'one', 'DONE', { operation: 'replace' }, 'one'],
    ['KEEP', 'one\nDONE.', 'KEEP', {}, 'one\nDONE.'],
  ])('not for %s', async (_name, text, reply, options, file) => {
    const harness = await answered(text, [reply], options);
    expect(harness.file).toBe(file);
    expect(receiptNotesOf(harness.session)).not.toHaveProperty('final_newline_added');
  });

  it('for text that is appended', async () => {
    const harness = await answered('one', ['DONE'], { operation: 'append' });
    expect(harness.file).toBe('one\n');
  });

  it('not when a person writes what is saved', async () => {
    const harness = await answered('one', []);
    harness.send({ type: 'cancelled' });
    harness.send({ type: 'finalize_command', answer: null });
    expect(harness.file).toBe('one');
  });
});

describe('R047: nothing but DONE after a message that was cut off', () => {
  const CUT = { kind: 'length' } as const;
  const warnings = ({ session }: SessionHarness): readonly string[] =>
    receiptNotesOf(session).warnings;

  it('is a warning in the receipt', () => {
    const harness = new SessionHarness();
    harness.message('one\ntwo\n', CUT);
    harness.message('DONE');
    expect([harness.file, warnings(harness)]).toEqual(['one\ntwo\n', ['ended_after_cut']]);
  });

  it('also when the message was cut off behind a DONE, but not when its connection broke there', () => {
    const cut = new SessionHarness();
    cut.message('one\nDONE\ntwo\nDONE\n', CUT);
    cut.message('DONE');
    expect([cut.file, warnings(cut)]).toEqual(['one\nDONE\ntwo\n', ['ended_after_cut']]);
    const broken = new SessionHarness();
    broken.message('one\nDONE\n', {
      kind: 'error',
      code: 'STREAM_BROKEN',
      message: '',
      retryable: true,
    });
    broken.message('DONE');
    expect([broken.file, warnings(broken)]).toEqual(['one\n', []]);
  });

  it('also when a remark was left out, a stream broke, or a process ended', async () => {
    const broken = { kind: 'error', code: 'STREAM_BROKEN', message: '', retryable: true } as const;
    const after = new SessionHarness();
    after.message('one\ntwo\n', broken);
    after.message('DONE');
    expect(warnings(after)).toEqual(['ended_after_cut']);
    const first = new SessionHarness();
    first.send({ type: 'message_started' });
    first.send({ type: 'text', text: 'one\ntwo\n' });
    for (const record of [null, first.record]) {
      const harness = new SessionHarness({ recovered: { content: 'one\ntwo\n', record } });
      harness.message('I am sorry, but I cannot help with that.');
      await harness.wait(2000);
      harness.message('DONE');
      expect([harness.file, warnings(harness)]).toEqual(['one\ntwo\n', ['ended_after_cut']]);
      expect(harness.session.seams).toEqual([]);
    }
    first.send({ type: 'cancelled' });
    expect(first.record.cut_off).toBe(true);
  });

  it('also when a fence or a lead is asked about first, and a person answers', async () => {
    const harness = new SessionHarness();
    harness.message('Sure, here is the file:\n\none\n', CUT);
    harness.message('DONE');
    expect(harness.record.question).toMatchObject({ kind: 'lead' });
    harness.send({ type: 'cancelled' });
    harness.send({ type: 'finalize_command', answer: { kind: 'drop' } });
    expect([harness.file, warnings(harness)]).toEqual(['one\n', ['ended_after_cut']]);
    const fenced = new SessionHarness();
    fenced.message('```\none\n', CUT);
    fenced.message('DONE');
    fenced.message('STRIP');
    expect([fenced.file, warnings(fenced)]).toEqual(['one\n', ['ended_after_cut']]);
  });

  it('a recovery lets such a text go on before its lead or its fence is asked about', async () => {
    for (const [text, answer] of [
      ['Sure, here is the file:\n\none\ntwo\n', 'DROP'],
      ['```\none\ntwo\n', 'STRIP'],
    ] as const) {
      const first = new SessionHarness();
      first.message(text, CUT);
      first.message('DONE');
      expect(first.prompts).toHaveLength(2);
      const harness = new SessionHarness({
        recovered: { content: first.content, record: first.record },
      });
      expect(harness.prompts[0]).toMatch(/^The session for a\.txt was interrupted\./u);
      harness.message(`${text}three\nDONE`);
      harness.message(answer);
      expect([harness.file, warnings(harness)]).toEqual(['one\ntwo\nthree\n', []]);
    }
  });

  it('is none when the text went on, when it had come to its end, or when its end was named', async () => {
    const wentOn = new SessionHarness();
    wentOn.message('one\ntwo\n', CUT);
    wentOn.message('one\ntwo\nthree\nDONE');
    expect(warnings(wentOn)).toEqual([]);
    const whole = await answered('one\ntwo\n', []);
    const recovered = new SessionHarness({
      recovered: { content: whole.content, record: whole.record },
    });
    recovered.message('DONE');
    expect([recovered.file, warnings(recovered)]).toEqual(['one\ntwo\n', []]);
    const named = new SessionHarness();
    named.message('one\nDONE\nThat is all.\nmore', CUT);
    named.message('DONE');
    await named.wait(2000);
    named.message('END 2');
    expect([named.file, warnings(named)]).toEqual(['one\n', []]);
    const marked = new SessionHarness();
    marked.message('one\nDONE', { ...CUT });
    await marked.wait(2000);
    marked.message('DONE');
    expect(marked.file).toBe('one\n');
  });

  it('is none when the reply to a question is cut off', async () => {
    const harness = new SessionHarness();
    harness.message('one\nDONE\nmore\n');
    await harness.wait(2000);
    harness.message('three\n\nfour', CUT);
    await harness.wait(2000);
    harness.message('DONE');
    expect([harness.file, warnings(harness)]).toEqual(['one\nDONE\nmore\n', []]);
  });
});

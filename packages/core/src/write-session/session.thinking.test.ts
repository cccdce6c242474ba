import { describe, expect, it } from 'vitest';

import { recordOf } from './advance.ts';
import { receiptNotesOf } from './session.ts';
import type { MessageEnd } from './control.ts';
import { SessionHarness } from './testing/session-harness.ts';
import type { HarnessOptions } from './testing/session-harness.ts';
import { unitsOf } from './text/testing/splits.ts';

/** Hazard: what a model thinks becomes part of the file, or a file that begins with the same characters is cut. */

const BLOCK = '<think>\nThen I write DONE:\nDONE\nDONE 7f3a\nLike this.\n</think>\n\n';

function thinkingHarness(options: HarnessOptions = {}): SessionHarness {
  const harness = new SessionHarness(options);
  harness.thinkTags = true;
  return harness;
}

describe('R275: a closing tag that no block in the text opened', () => {
  const REASONING = 'The user wants a file.\nI write it.\n</think>\n\n';

  it.each([
    ['DROP', 'rest\n', REASONING],
    ['KEEP', `${REASONING}rest\n`, ''],
  ])('is asked about, and %s decides', (answer, file, aside) => {
    for (const pieces of [[`${REASONING}rest\nDONE`], unitsOf(`${REASONING}rest\nDONE`)]) {
      const harness = thinkingHarness();
      harness.message(pieces);
      expect(harness.file).toBeNull();
      expect(harness.record.question).toEqual({
        kind: 'lead',
        text: 'The user wants a file.\n</think>',
        contentStart: REASONING.length,
      });
      harness.message(answer);
      expect([harness.file, harness.aside]).toEqual([file, aside]);
    }
  });

  it.each(['</think>', '</thought>', '</seed:think>'])(
    'is found before the text on its line, too: %s',
    (tag) => {
      const message = `The user wants a file\nI write it – so.${tag}const a = 1;\nrest\nDONE`;
      for (const pieces of [[message], unitsOf(message)]) {
        const harness = thinkingHarness({ target: 'a.ts' });
        harness.message(pieces);
        expect(harness.record.question).toMatchObject({
          kind: 'lead',
          text: `The user wants a file\nI write it – so.${tag}`,
        });
        harness.message(`I drop it.${tag}DROP`);
        expect(harness.file).toBe('const a = 1;\nrest\n');
      }
    },
  );

  it.each([
    ['a program quotes it', "const close = '</think>';\nrest\n", true],
    ['a line opens it', 'if (<think>a</think>b)\nrest\n', true],
    ['nothing follows it', REASONING, true],
    ['the model has another field for its reasoning', `${REASONING}rest\n`, false],
    ['it is within a line', 'Write </think> and go on.\nrest\n', true],
  ])('is text where %s', (_name, text, thinkTags) => {
    const harness = new SessionHarness();
    harness.thinkTags = thinkTags;
    harness.message(`${text}DONE`);
    expect(harness.file).toBe(text);
  });
});

it('R275: reasoning on the first line alone is quoted without the text behind it', () => {
  const harness = thinkingHarness();
  harness.message('I write it.</think>rest\nDONE');
  expect(harness.record.question).toMatchObject({ kind: 'lead', text: 'I write it.</think>' });
});

describe('R275: a model whose template opens the block, message after message', () => {
  /** Other words each time: a model does not repeat its reasoning. */
  function reasoning(about: string, lines: number): string {
    const more = `I look at ${about} and weigh <what> I am asked for; then:\nKEEP\n`;
    return `Okay, now ${about}.\n${more.repeat(lines)}</think>\n\n`;
  }
  const saved = Array.from({ length: 20 }, (_, line) => `const v${line} = ${line};\n`).join('');

  /** What the prompt asks it to repeat. */
  function quoted({ prompts }: SessionHarness): string {
    return /<tail-7f3a>\n([^]*)<\/tail-7f3a>/u.exec(prompts.at(-1) ?? '')?.[1] ?? '';
  }

  it.each([0, 1, 50])('has its answers read behind %i lines of it', async (lines) => {
    for (const divided of [(text: string) => [text], unitsOf]) {
      const harness = thinkingHarness();
      harness.message(divided(`${reasoning('the file', lines)}a\nDONE\nb\n`));
      await harness.wait(2_000);
      for (const answer of ['DONE', 'DROP']) {
        harness.message(divided(`${reasoning('the question', lines)}${answer}`));
        await harness.wait(2_000);
      }
      expect(harness.file).toBe('a\nDONE\nb\n');
    }
  });

  it.each([1, 50])('goes on with its text behind %i lines of it', async (lines) => {
    const harness = thinkingHarness();
    harness.message(`${reasoning('the file', lines)}${saved}`, { kind: 'length' });
    for (let count = 0; harness.file === null && count < 4; count += 1) {
      const isAsked = harness.state === 'session_active.awaiting_answer';
      const text = isAsked ? 'DROP' : `${quoted(harness)}const last = 0;\nDONE`;
      harness.message(`${reasoning(`round ${count}`, lines)}${text}`);
      await harness.wait(2_000);
    }
    expect(harness.file).toBe(`${saved}const last = 0;\n`);
  });

  it('may answer without any, and may go on without any', () => {
    const harness = thinkingHarness();
    harness.message(`${reasoning('the file', 1)}rest\nDONE`);
    harness.message('DROP');
    expect(harness.file).toBe('rest\n');
    const other = thinkingHarness();
    other.message(`${reasoning('the file', 20)}${saved}`, { kind: 'length' });
    other.message(`${quoted(other)}${'const more = 3;\n'.repeat(5_000)}DONE`);
    other.message('DROP');
    expect(other.file).toBe(`${saved}${'const more = 3;\n'.repeat(5_000)}`);
  });

  it('may repeat the end of it as a line of the file', () => {
    const harness = thinkingHarness();
    harness.message(`${reasoning('the file', 1)}const a = 1;\n`, { kind: 'length' });
    expect(quoted(harness)).toContain('</think>\n\nconst a = 1;\n');
    harness.message(`${quoted(harness)}const b = 2;\nDONE`);
    harness.message('DROP');
    expect(harness.file).toBe('const a = 1;\nconst b = 2;\n');
  });

  it('is not assumed of a model that has another field for its reasoning', async () => {
    const harness = thinkingHarness();
    harness.message('a\nDONE\nb\n');
    await harness.wait(2_000);
    harness.message(`${reasoning('the question', 1)}DONE`);
    expect(harness.file).toBeNull();
  });
});

describe('R275: the tags of other models', () => {
  it.each([
    ['<seed:think>', '</seed:think>'],
    ['[THINK]', '[/THINK]'],
    ['◁think▷', '◁/think▷'],
    ['<|START_THINKING|>', '<|END_THINKING|>'],
    ['<|channel|>analysis<|message|>', '<|end|><|start|>assistant<|channel|>final<|message|>'],
    ['<|channel|>', 'final<|message|>'],
    ['<|channel>thought\n', '<channel|>'],
  ])('%j and %j are read in each message', async (open, close) => {
    for (const divided of [(text: string) => [text], unitsOf]) {
      const harness = thinkingHarness();
      const dressed = (text: string): readonly string[] =>
        divided(`${open}I write DONE.\nDONE\nThat is it.${close}${text}`);
      harness.message(dressed('const a = 1;\nDONE\nconst b = 2;\n'), { kind: 'length' });
      harness.message(dressed('const a = 1;\nDONE\nconst b = 2;\nAll of it is done.\n'));
      await harness.wait(2_000);
      harness.message(dressed('DONE'));
      await harness.wait(2_000);
      expect(harness.file).toBe('const a = 1;\nDONE\nconst b = 2;\nAll of it is done.\n');
      expect(receiptNotesOf(harness.session)).toMatchObject({ thinking_set_aside: true });
      expect(harness.aside.startsWith(open)).toBe(true);
    }
  });

  it.each(['thinking', 'thought', 'reasoning'])(
    'are asked about where a file may begin with them: <%s>',
    async (name) => {
      for (const divided of [(text: string) => [text], unitsOf]) {
        for (const answer of ['DROP', 'KEEP']) {
          const harness = thinkingHarness();
          const block = `<${name}>\nI write it.\n</${name}>\n`;
          harness.message(divided(`${block}rest\nDONE`));
          expect(harness.record.question).toMatchObject({
            kind: 'lead',
            text: `<${name}>\n</${name}>`,
          });
          harness.message(divided(`${block}${answer}`));
          await harness.wait(2_000);
          expect(harness.file).toBe(answer === 'KEEP' ? `${block}rest\n` : 'rest\n');
        }
      }
    },
  );

  it.each([
    ['opened within the file', '<list>\n<reasoning>\na\n</reasoning>\n</list>\n'],
    ['not closed', '<thinking>\na\n'],
  ])('are no question where they are %s', (_where, text) => {
    const harness = thinkingHarness();
    harness.message(`${text}DONE`);
    expect(harness.file).toBe(text);
  });

  it('are text within a file', () => {
    const harness = thinkingHarness();
    const text = 'a\n[THINK]b[/THINK]c\n<|channel|>final<|message|>\n';
    harness.message(`${text}DONE`);
    expect([harness.file, harness.record.question]).toEqual([text, undefined]);
  });
});

describe('R275: a think block that opens the content of a file', () => {
  it.each([
    ['as it comes', `${BLOCK}  rest\nDONE`, BLOCK, '  rest\n'],
    ['on one line', '<think>hm</think>rest\nDONE', '<think>hm</think>', 'rest\n'],
    ['behind blank lines', `\n\n${BLOCK}rest\nDONE 7f3a`, BLOCK, 'rest\n'],
    ['before a lead with a fence', `${BLOCK}Here it is:\n\`\`\`\nx\n\`\`\`\nDONE`, BLOCK, null],
  ])('is saved, and the file begins behind it: %s', (_name, message, block, file) => {
    for (const pieces of [[message], unitsOf(message)]) {
      const harness = thinkingHarness();
      harness.message(pieces);
      expect(harness.content.startsWith(block)).toBe(true);
      expect(harness.aside.startsWith(block)).toBe(true);
      if (file !== null) expect(harness.file).toBe(file);
      expect(harness.session).toMatchObject({
        thinking: 'set_aside',
        contentStart: Buffer.byteLength(block),
        blankLinesDropped: 0,
        innerDoneLines: [],
      });
      expect(receiptNotesOf(harness.session)).toMatchObject({ thinking_set_aside: true });
      expect(receiptNotesOf(harness.session).warnings).not.toContain('opens_with_thinking');
      expect(recordOf(harness.session)).toMatchObject({
        thinking: 'set_aside',
        content_start: Buffer.byteLength(block),
      });
    }
  });

  it.each(['<a>\n', '\n  a\n', ' <thinkers>\n'])(
    'ends at its own marker where no block opens it: %j',
    (text) => {
      const message = `${text}DONE 7f3a\nFor the person.\n`;
      for (const pieces of [[message], unitsOf(message)]) {
        const harness = thinkingHarness();
        harness.message(pieces);
        expect(harness.file).toBe(text.replace(/^\n/u, ''));
        expect(harness.chat).toBe('For the person.\n');
      }
    },
  );

  it.each<[string, string, string, MessageEnd]>([
    ['was not closed', '<think>\nfile\nDONE', '<think>\nfile\n', { kind: 'stop' }],
    ['was not closed, own marker', '<think>\nfile\nDONE 7f3a', '<think>\nfile\n', { kind: 'stop' }],
    [
      'has nothing behind it',
      '<think>\nx\n</think>\n\nDONE',
      '<think>\nx\n</think>\n\n',
      { kind: 'stop' },
    ],
  ])('is content, and named, where it %s', (_name, message, file, end) => {
    for (const pieces of [[message], unitsOf(message)]) {
      const harness = thinkingHarness();
      harness.message(pieces, end);
      expect(harness.file).toBe(file);
      expect(harness.aside).toBe('');
      expect(harness.session).toMatchObject({ thinking: 'kept', contentStart: 0 });
      expect(recordOf(harness.session).thinking).toBe('kept');
      expect(receiptNotesOf(harness.session)).toEqual({
        fence_stripped: false,
        warnings: ['opens_with_thinking'],
      });
    }
  });

  it('is content where the adapter reads the tags itself, or reasoning has a field of its own', () => {
    const message = '<think>\nx\n</think>\n\nrest\nDONE';
    const plain = new SessionHarness();
    plain.message(message);
    expect(plain.file).toBe('<think>\nx\n</think>\n\nrest\n');
    expect(plain.session).toMatchObject({ thinking: 'none', contentStart: 0 });
    for (let at = 0; at < 4; at += 1) {
      const harness = thinkingHarness();
      harness.send({ type: 'message_started', thinkTags: true });
      const pieces = ['<th', 'ink>\nx\n</th', 'ink>\n\n', 'rest\nDONE'];
      for (const [index, text] of pieces.entries()) {
        if (index === at) harness.send({ type: 'reasoning' });
        harness.send({ type: 'text', text });
      }
      harness.send({ type: 'message_ended', end: { kind: 'stop' } });
      expect([at, harness.file]).toEqual([at, '<think>\nx\n</think>\n\nrest\n']);
      expect(harness.session).toMatchObject({ thinking: 'none', contentStart: 0 });
    }
  });

  it('is content anywhere else', () => {
    const harness = thinkingHarness();
    harness.message('a\n<think>\nx\n</think>\nrest\nDONE');
    expect(harness.file).toBe('a\n<think>\nx\n</think>\nrest\n');
    expect(harness.session.thinking).toBe('none');
  });

  it('leaves a question of the text behind it with the lines of what is saved', async () => {
    const harness = thinkingHarness();
    harness.message('<think>x</think>\na\nDONE\nI hope this helps!\n');
    await harness.wait(2_000);
    expect(harness.prompts.at(-1)).toContain('Line 3 of what is saved for a.txt is DONE');
    harness.message('END 3');
    expect(harness.file).toBe('a\n');
  });
});

it('R274: a question counts the lines that would be written, without those of a think block', async () => {
  for (const end of [{ kind: 'stop' }, { kind: 'length' }] as const) {
    const harness = thinkingHarness();
    harness.message(`${BLOCK}a\nb\n`, end);
    await harness.wait(2_000);
    expect(harness.prompts.at(-1)).toContain('2 lines of a.txt are saved. They end with:');
    const again = new SessionHarness({
      recovered: { content: harness.content, record: harness.record },
    });
    expect(again.prompts.at(-1)).toContain('2 lines of a.txt are saved. They end with:');
  }
});

describe('R275: a think block that opens a reply is left out', () => {
  it('before an answer', async () => {
    for (const reply of [`${BLOCK}DONE`, '<think>x</think>DONE', `\n${BLOCK}DONE\n`]) {
      for (const pieces of [[reply], unitsOf(reply)]) {
        const harness = thinkingHarness();
        harness.message('a\nDONE\nb\n');
        await harness.wait(2_000);
        harness.message(pieces);
        expect(harness.file).toBe('a\nDONE\nb\n');
      }
    }
  });

  it('but one that is not closed is no answer', async () => {
    const harness = thinkingHarness();
    harness.message('a\nDONE\nb\n');
    await harness.wait(2_000);
    harness.message('<think>\nDONE');
    expect(harness.file).toBeNull();
    expect(harness.state).toBe('session_active.awaiting_answer');
  });

  it('before a continuation', () => {
    const saved = 'const first = 1;\nconst second = 2;\n';
    for (const pieces of [
      [`${BLOCK}${saved}const third = 3;\nDONE`],
      unitsOf(`${BLOCK}${saved}const third = 3;\nDONE`),
    ]) {
      const harness = thinkingHarness();
      harness.message(saved, { kind: 'length' });
      harness.message(pieces);
      expect(harness.file).toBe(`${saved}const third = 3;\n`);
      expect(harness.session.thinking).toBe('none');
    }
  });

  it('but not before one that has to begin with it', () => {
    const saved = '<think>\nconst first = 1;\nconst second = 2;\n';
    const harness = new SessionHarness();
    harness.message(saved, { kind: 'length' });
    harness.thinkTags = true;
    harness.message(`${saved}const third = 3;\nDONE`);
    expect(harness.file).toBe(`${saved}const third = 3;\n`);
  });

  it('before what is written after an empty message', async () => {
    const harness = thinkingHarness();
    harness.message('DONE');
    await harness.wait(2_000);
    harness.message(`${BLOCK}a\nDONE`);
    expect(harness.file).toBe('a\n');
    expect(harness.aside).toBe(BLOCK);
    expect(harness.session.thinking).toBe('set_aside');
  });
});

it('R275: a recovered session knows where the file begins', () => {
  const before = thinkingHarness();
  before.message(`${BLOCK}const first = 1;\nconst second = 2;\n`, { kind: 'length' });
  const harness = new SessionHarness({
    recovered: { content: before.content, record: before.record },
  });
  expect(harness.session).toMatchObject({
    thinking: 'set_aside',
    contentStart: Buffer.byteLength(BLOCK),
    unaskedEnds: [],
  });
  harness.message('const first = 1;\nconst second = 2;\nconst third = 3;\nDONE');
  expect(harness.file).toBe('const first = 1;\nconst second = 2;\nconst third = 3;\n');
});

describe('R275, B3: a kill in the middle of the message', () => {
  function started(): SessionHarness {
    const harness = thinkingHarness();
    harness.send({ type: 'message_started', thinkTags: true });
    return harness;
  }

  it('finds saved where the file begins, as soon as it does', () => {
    const harness = started();
    harness.send({ type: 'text', text: '<think>\nhm\n' });
    expect([harness.saves, harness.record.thinking]).toEqual([1, 'kept']);
    harness.send({ type: 'text', text: 'so\n</think>\n\n' });
    expect(harness.saves).toBe(1);
    harness.send({ type: 'text', text: 'const first = 1;\n' });
    expect(harness.saves).toBe(2);
    expect(harness.record).toMatchObject({
      thinking: 'set_aside',
      content_start: '<think>\nhm\nso\n</think>\n\n'.length,
    });
    harness.send({ type: 'text', text: 'const second = 2;\n' });
    expect(harness.saves).toBe(2);
  });

  it('finds saved how many blank lines were left out (R272)', () => {
    const harness = started();
    harness.send({ type: 'text', text: '\n\na\n' });
    expect([harness.saves, harness.record.leading_blank_lines_dropped]).toEqual([1, 2]);
  });

  it.each([
    ['<think>x</think>\n\nconst first = 1;\n', ['opens_with_thinking']],
    [' \n<think>\nconst first = 1;\n', ['opens_with_thinking']],
    ['const first = "<think>";\n', []],
  ])('names a block that nothing was written down about: %j', (content, warnings) => {
    const harness = new SessionHarness({ recovered: { content, record: null } });
    harness.message(`${content}const third = 3;\nDONE`);
    expect(harness.file).toBe(`${content}const third = 3;\n`);
    expect(receiptNotesOf(harness.session).warnings).toEqual(warnings);
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dividedText, unitsOf } from './testing/splits.ts';
import { createThinkReader, endThink, readThink } from './think-block.ts';

/** The block, the text, and where the reader stands at the end. */
function read(
  pieces: readonly string[],
  message: Parameters<typeof createThinkReader>[0] = 'file',
): readonly [block: string, text: string, phase: string] {
  let reader = createThinkReader(message);
  let block = '';
  let text = '';
  for (const piece of pieces) {
    const part = readThink(reader, piece);
    ({ reader } = part);
    // K2: nothing of the block comes behind the text.
    if (text !== '') expect(part.block).toBe('');
    block += part.block;
    text += part.text;
    const held = 'held' in reader ? reader.held.length : 0;
    expect(held).toBeLessThanOrEqual(message === 'template_reply' ? 65_536 : 4_096 + 20);
  }
  const end = endThink(reader);
  return [block + end.block, text + end.text, reader.phase];
}

describe('R275: a think block that opens a message', () => {
  test.each([
    ['<think>a</think>b', '<think>a</think>', 'b', 'behind'],
    [
      '<think>\ninner\n</think>\n\nrest\nDONE',
      '<think>\ninner\n</think>\n\n',
      'rest\nDONE',
      'behind',
    ],
    ['\r\n <think></think>\r\n \r\n  é\n', '\r\n <think></think>\r\n \r\n', '  é\n', 'behind'],
    ['<think>a</think>  b', '<think>a</think>  ', 'b', 'behind'],
    ['<think>a</think> \n\t b', '<think>a</think> \n', '\t b', 'behind'],
    ['<think><think>a</think></think>', '<think><think>a</think>', '</think>', 'behind'],
    ['<think>a</thin</think>b', '<think>a</thin</think>', 'b', 'behind'],
    ['<think>a</think>', '<think>a</think>', '', 'between'],
    ['<think>a</think>\n\n  ', '<think>a</think>\n\n  ', '', 'between'],
    ['<think>a</thin', '<think>a</thin', '', 'inside'],
    ['<think>', '<think>', '', 'inside'],
    ['<think', '', '<think', 'before'],
    [' \n', '', ' \n', 'before'],
    ['', '', '', 'before'],
    ['<thinker>a</thinker>b', '', '<thinker>a</thinker>b', 'none'],
    ['<THINK>a</THINK>b', '', '<THINK>a</THINK>b', 'none'],
    ['a<think>b</think>c', '', 'a<think>b</think>c', 'none'],
    [
      `${' '.repeat(4_096)}<think>a</think>b`,
      `${' '.repeat(4_096)}<think>a</think>`,
      'b',
      'behind',
    ],
    [`${' '.repeat(4_097)}<think>`, '', `${' '.repeat(4_097)}<think>`, 'none'],
    [
      `<think></think>\n${' '.repeat(4_096)}b`,
      '<think></think>\n',
      `${' '.repeat(4_096)}b`,
      'behind',
    ],
    [
      `<think></think>\n${' '.repeat(4_097)}b`,
      `<think></think>\n${' '.repeat(4_097)}`,
      'b',
      'behind',
    ],
  ])('%j', (message, block, text, phase) => {
    expect(read([message])).toEqual([block, text, phase]);
    expect(read(unitsOf(message))).toEqual([block, text, phase]);
  });

  test('every division of a message reads the same (K4), and nothing is lost (K2)', () => {
    const kinds = fc.constantFrom('file', 'reply', 'template_reply');
    const messages = fc
      .array(
        fc.constantFrom(
          '<think>',
          '</think>',
          '<',
          '</',
          'think',
          '>',
          ' ',
          '\n',
          '\r\n',
          'x',
          '😀',
          '[THINK]',
          '[/THINK]',
          '<thinking>',
          '</thinking>',
          '</seed:think>',
          '<|channel|>',
          'final<|message|>',
        ),
        { maxLength: 10 },
      )
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(dividedText(messages), kinds, ({ text, pieces }, kind) => {
        const whole = read([text], kind);
        expect(read(pieces, kind)).toEqual(whole);
        expect(whole[0] + whole[1]).toBe(text);
      }),
      { numRuns: 4_000 },
    );
  });
});

test.each(['thinking', 'thought', 'reasoning'])(
  'R275: <%s> opens a block in a reply, and may be text in a file',
  (name) => {
    const [block, message] = [`<${name}>a</${name}>`, `<${name}>a</${name}>b`];
    expect(read(unitsOf(message), 'reply')).toEqual([block, 'b', 'behind']);
    expect(read(unitsOf(message), 'file')).toEqual(['', message, 'none']);
  },
);

describe('R275: a think block that the template of a model opens', () => {
  const most = 65_536 - '</think>'.length;

  test.each([
    ['a\n</think>\n\nb', 'a\n</think>\n\n', 'b', 'behind'],
    ['a</think>b</think>c', 'a</think>', 'b</think>c', 'behind'],
    ['</think>\n  b', '</think>\n', '  b', 'behind'],
    [' \n<think>a</think>b', ' \n<think>a</think>', 'b', 'behind'],
    ['a</thin</think>\nb', 'a</thin</think>\n', 'b', 'behind'],
    ['a</thinking>b</think>c', 'a</thinking>', 'b</think>c', 'behind'],
    ['a</seed:</thought>b', 'a</seed:</thought>', 'b', 'behind'],
    ['a</think>', 'a</think>', '', 'between'],
    ['a</thin', '', 'a</thin', 'unopened'],
    ['DONE', '', 'DONE', 'unopened'],
    ['', '', '', 'before'],
    ['<think>a', '<think>a', '', 'inside'],
    [`${' '.repeat(4_097)}a</think>b`, `${' '.repeat(4_097)}a</think>`, 'b', 'behind'],
    [`${'x'.repeat(most)}</think>b`, `${'x'.repeat(most)}</think>`, 'b', 'behind'],
    [`${'x'.repeat(most + 1)}</think>b`, '', `${'x'.repeat(most + 1)}</think>b`, 'none'],
  ])('%.40j', (message, block, text, phase) => {
    expect(read([message], 'template_reply')).toEqual([block, text, phase]);
    expect(read(unitsOf(message), 'template_reply')).toEqual([block, text, phase]);
  });
});

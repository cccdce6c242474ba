import { describe, expect, test } from 'vitest';
import { isClosingRemark, nearMissOf } from './near-miss.ts';
import type { LastLine } from './near-miss.ts';

function nearMiss(text: string, facts: Partial<LastLine> = {}): string | null {
  return nearMissOf({
    text,
    isWhole: true,
    isTerminated: true,
    isParagraph: false,
    closesLoop: false,
    openFence: null,
    ...facts,
  });
}

const open = { isTerminated: false };
const paragraph = { isParagraph: true };

describe('R021: near misses', () => {
  test.each([
    'DONE.',
    '**DONE**',
    '> DONE',
    ' DONE',
    '\tDONE',
    `${' '.repeat(60)}DONE`,
    '[DONE]',
    '`DONE`',
    '# DONE',
    '<!-- DONE -->',
    'DONE!!!',
    'DONE ✅',
    '🎉 DONE 🎉',
    '**DONE 7f3a**',
    'DONE 7F3A',
    '**DONE 7F3A**',
    'DONE7f3a',
    'DONE: 7f3a',
    'DONE DONE',
    'DONEDONE',
    '**DONE** DONE 7f3a DONE.',
    '<result>DONE 7f3a</result>',
    'Done',
    'Done.',
    '**Done**',
    '(Done).',
    'Done 1.0',
  ])('%j is one, in whole', (line) => {
    expect(nearMiss(line)).toBe(line);
    expect(nearMiss(`${line} \t\r`)).toBe(line);
    expect(nearMiss(line, { isWhole: false })).toBeNull();
  });

  test.each([
    'DONE',
    'DONE 7f3a',
    'done;',
    'done.',
    '`done`',
    ' done',
    'donee',
    'DONENESS',
    'UNDONE',
    'I am DONE',
    '<b>not DONE</b>',
    '<done state="DONE">',
    'DONE<an-end-marker-of-many-letters>',
    'Done with it',
    'We are Done',
    '*****Done',
    'Done.....',
    'DONE = 1',
    'DONE_1',
    'DONE 7f3ab',
    'DONE: 7f3 a',
    'DONE x DONE',
    `${'='.repeat(40)} DONE`,
    '',
    'x'.repeat(10_000),
  ])('%j is none (N3)', (line) => {
    expect(nearMiss(line)).toBeNull();
  });

  test('N2: of a line that no LF ends, four characters after one that is not blank', () => {
    expect(nearMiss('last lineDONE', open)).toBe('DONE');
    expect(nearMiss('}DONE', open)).toBe('DONE');
    expect(nearMiss('}DONE 7f3a', open)).toBe('DONE 7f3a');
    expect(nearMiss('> DONE', open)).toBe('> DONE');
    expect(nearMiss('x = 1;DONE', open)).toBe('DONE');
    expect(nearMiss('x = 1;DONE')).toBeNull();
    expect(nearMiss('DONE', open)).toBeNull();
    expect(nearMiss('}DONE')).toBe('}DONE');
    expect(nearMiss('lastdone', open)).toBeNull();
    expect(nearMiss('}DONE 7F3A', open)).toBe('DONE 7F3A');
    expect(nearMiss('x = 1; DONE 7F3A', open)).toBe(' DONE 7F3A');
  });

  test.each([
    'DONE</s>',
    'DONE<|im_end|>',
    'DONE 7f3a<|im_end|>',
    'DONE <|eot_id|></s>',
    'DONE<|END_OF_TURN_TOKEN|>',
    'DONE<｜end▁of▁sentence｜>',
    '**DONE**<turn|>',
    '<answer>DONE</answer>',
    '<|im_end|>',
    ' </s> <eos>',
    '[|endofturn|]',
    '</answer>',
  ])('%j is one, in whole, with its tokens', (line) => {
    expect(nearMiss(line)).toBe(line);
    expect(nearMiss(line, open)).toBe(line);
  });

  test('tokens of a chat template at the end of a line, with what stands before them', () => {
    expect(nearMiss('last line<|im_end|>')).toBe('<|im_end|>');
    expect(nearMiss('last line <|eot_id|> </s>', open)).toBe(' <|eot_id|> </s>');
    expect(nearMiss('x = 1; DONE</s>')).toBe(' DONE</s>');
    expect(nearMiss('x = 1;DONE<｜end▁of▁sentence｜>', open)).toBe('DONE<｜end▁of▁sentence｜>');
    expect(nearMiss('I hope this helps!<turn|>', paragraph)).toBe('I hope this helps!<turn|>');
    expect(nearMiss('I hope this helps!<turn|>')).toBe('<turn|>');
    for (const text of ['<s>old</s>', 'a[1]', '<|>', '<b>', 'f<|x', 'a < b', '<|im_end|>.'])
      expect(nearMiss(text, open)).toBeNull();
  });

  test('no part of a repeated DONE stays', () => {
    expect(nearMiss('DONE DONE', open)).toBe('DONE DONE');
    expect(nearMiss('DONEDONE', open)).toBe('DONEDONE');
    expect(nearMiss('x DONEDONE', open)).toBe(' DONEDONE');
    expect(nearMiss('x DONE DONE 7f3a', open)).toBe(' DONE DONE 7f3a');
    expect(nearMiss('x;DONE DONE', open)).toBe('DONE DONE');
  });

  // Looked at anew from each of them, such a line would take longer than a test may.
  test('a line of very many costs as much as it is long', () => {
    for (const repeated of ['DONE', 'DONE ', 'DONE 7f3a ', ' \t'])
      expect(nearMiss(`${repeated.repeat(50_000)}x`, open)).toBeNull();
  });
});

describe('R296: more near misses', () => {
  test('a DONE behind blanks at the end of a line that no LF ends, with the blanks', () => {
    expect(nearMiss('y = 2 DONE', open)).toBe(' DONE');
    expect(nearMiss('y = 2 \t DONE 7f3a', open)).toBe(' \t DONE 7f3a');
    expect(nearMiss('I am DONE', open)).toBe(' DONE');
    expect(nearMiss('the end of a long line DONE', { ...open, isWhole: false })).toBe(' DONE');
    expect(nearMiss('y = 2 DONE')).toBeNull();
    expect(nearMiss('y = 2 done', open)).toBeNull();
    expect(nearMiss('y = 2 DONE 7f3', open)).toBeNull();
    expect(nearMiss(' DONE', { ...open, isWhole: false })).toBeNull();
  });

  test('a bare done, if it closes no loop of the content', () => {
    for (const facts of [open, {}, paragraph]) {
      expect(nearMiss('done', facts)).toBe('done');
      expect(nearMiss('done', { ...facts, closesLoop: true })).toBeNull();
      expect(nearMiss('done', { ...facts, isWhole: false })).toBeNull();
    }
    expect(nearMiss('DONE.', { closesLoop: true })).toBe('DONE.');
  });

  const REMARKS = [
    'I have written the file.',
    "I've added both functions!",
    'I’ve added both functions!',
    'I hope this helps you!',
    'Let me know.',
    'Feel free to change it.',
    'The file is complete.',
    'The file has 3 lines.',
    'This file is complete.',
    "That's it!",
    'All done!',
    '*All done!',
    'Hope this helps :)',
    'He terminado el archivo.',
    'Espero que te sirva.',
    'Criei o arquivo.',
    "J'ai terminé.",
    'N’hésitez pas !',
    'Ich habe alles geschrieben.',
    "Das war's!",
    'Ho creato il file.',
    'Надеюсь, это поможет!',
    '希望这对你有帮助！',
    '以上です。',
    'آمل أن يساعدك هذا.',
    'आशा है कि यह काम करेगा!',
    'Semoga membantu!',
  ];

  test.each(REMARKS)('a closing remark: %s', (line) => {
    expect(isClosingRemark(line)).toBe(true);
    expect(nearMiss(line, paragraph)).toBe(line);
    expect(nearMiss(line, { ...paragraph, ...open })).toBe(line);
    expect(nearMiss(line)).toBeNull();
    expect(nearMiss(line, { ...paragraph, isWhole: false })).toBeNull();
  });

  test.each([
    'I havent seen him.',
    'I have no stop',
    ' I hope this helps you!',
    'He left the house.',
    'Thatcher left.',
    'Yours sincerely.',
    'i hope this helps you!',
    `I have ${'x'.repeat(160)}.`,
    'return 0;',
  ])('no closing remark: %s', (line) => {
    expect(nearMiss(line, paragraph)).toBeNull();
  });
});

describe('R296: a DONE behind the line that closes a fence of the content', () => {
  const fenced = { ...open, openFence: { character: '`', length: 3, info: 'sh' } } as const;

  test.each([
    ['``` DONE', ' DONE'],
    ['````  \tDONE 7f3a', '  \tDONE 7f3a'],
    ['```', null],
    ['~~~ DONE', '~~~ DONE'],
    ['`` DONE', '`` DONE'],
  ])('%j', (line, text) => {
    expect(nearMiss(line, fenced)).toBe(text);
  });

  test('the whole line with no fence open, with a longer one open, and where a line ending follows', () => {
    const longer = { ...fenced.openFence, length: 4 };
    expect(nearMiss('``` DONE', open)).toBe('``` DONE');
    expect(nearMiss('``` DONE', { ...open, openFence: longer })).toBe('``` DONE');
    expect(nearMiss('``` DONE', { ...fenced, isTerminated: true })).toBe('``` DONE');
  });
});

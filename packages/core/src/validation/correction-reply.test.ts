import type { InvalidPlace } from '@orion/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { correctionsOf, emptyReply, readCorrections } from './correction-reply.ts';

function place(index: number, before = '', after = ''): InvalidPlace {
  return {
    index,
    position: 10 * index,
    byte_offset: 10 * index,
    byte_length: 3,
    line: 1,
    column: 10 * index + 1,
    code: 'surrogate',
    context: { before, invalid: '\\ud83d', after },
  };
}

const places = [place(1), place(2), place(3)];

function replacements(reply: string, asked: readonly InvalidPlace[] = places) {
  const corrections = correctionsOf(readCorrections(emptyReply, reply, asked), asked);
  return corrections.map(({ start, text }) => [start / 10, text]);
}

describe('R097: a reply of corrections', () => {
  const cases: readonly (readonly [string, string, readonly (readonly [number, string])[]])[] = [
    [
      'one line each',
      '#1: é\n#2: ü\n#3: 😀',
      [
        [1, 'é'],
        [2, 'ü'],
        [3, '😀'],
      ],
    ],
    [
      'nothing after the colon deletes the place',
      '#1:\n#2: \n',
      [
        [1, ''],
        [2, ''],
      ],
    ],
    [
      'one blank after the colon is not part of it',
      '#1:é\n#2:  \n',
      [
        [1, 'é'],
        [2, ' '],
      ],
    ],
    ['the tokens of a chat template behind it', '#1: é<|im_end|>', [[1, 'é']]],
    [
      'lines that end in CRLF',
      '#1: é\r\n#2: ü\r\n',
      [
        [1, 'é'],
        [2, 'ü'],
      ],
    ],
    ['numbers that were not asked are ignored', '#4: x\n#0: y\n#01: z\n', [[1, 'z']]],
    ['missing numbers stay as they are', '#2: ü', [[2, 'ü']]],
    ['the last word on a number counts', '#1: a\nNo, wait.\n#1: b', [[1, 'b']]],
    ['text around the lines is ignored', 'Sure!\n\n```\n#1: é\n```\nDONE\n', [[1, 'é']]],
    ['the line number may be repeated', '#1 (line 12): é', [[1, 'é']]],
    ['the quoted question is no answer', '#1 (line 12): caf⟦1⟧ au lait', []],
    ['no usable line', 'sorry', []],
    ['an empty reply', '', []],
    ['U+0000 is not text either', '#1: \0', []],
    ['nor is half a character', '#1: \ud83d\n#2: \ude00x', []],
    ['a line that is no answer', '1: é\n# 1: é\nx #1: é\n#1 é', []],
    ['a line of endless length', `#1: ${'x'.repeat(5000)}\n#2: ü`, [[2, 'ü']]],
  ];
  it.each(cases)('%s', (_name, reply, expected) => {
    expect(replacements(reply)).toEqual(expected);
  });

  it('a model that repeats the whole quotation means what it put at the place', () => {
    const asked = [place(1, 'x\nconst s = "caf', ' au lait"\n')];
    expect(replacements('#1: const s = "café au lait"', asked)).toEqual([[1, 'é']]);
    expect(replacements('#1: const s = "caf au lait"', asked)).toEqual([[1, '']]);
    expect(replacements('#1: const s = "café au lait"</s>', asked)).toEqual([[1, 'é']]);
    const token = [place(1, 'const s = "caf', '<|im_end|>')];
    expect(replacements('#1: const s = "café<|im_end|>', token)).toEqual([[1, 'é']]);
    expect(replacements('#1: é', asked)).toEqual([[1, 'é']]);
  });

  it.each([
    ['ab', 'cd', 'abXcd', 'X'],
    ['abcd', '', 'abcdX', 'X'],
    ['', 'abcd', 'Xabcd', 'X'],
    ['ab', 'cd', 'abcd', ''],
    ['ab', 'c', 'abXc', 'abXc'],
    ['ab', 'cd', 'abXce', 'abXce'],
    ['ab', 'cd', 'bbXcd', 'bbXcd'],
    ['aba', 'aba', 'ababa', 'ababa'],
    ['x\nab', 'cd\r\nx', 'abXcd', 'X'],
  ])('between %j and %j %j stands for %j', (before, after, reply, text) => {
    expect(replacements(`#1: ${reply}`, [place(1, before, after)])).toEqual([[1, text]]);
  });

  it('does not depend on how the reply is divided', () => {
    const parts = [
      '#1: é',
      '#2:',
      '#3:  😀',
      '\n',
      '\r\n',
      'sorry',
      '#9: x',
      '\ud83d',
      '\ude00',
      '#1',
      ': ',
    ];
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...parts), { maxLength: 12 }),
        fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 8 }),
        (words, cuts) => {
          const reply = words.join('');
          let read = emptyReply;
          let from = 0;
          for (const cut of [...cuts, reply.length].toSorted((a, b) => a - b)) {
            read = readCorrections(read, reply.slice(from, cut), places);
            from = Math.max(from, cut);
          }
          expect(correctionsOf(read, places)).toEqual(
            correctionsOf(readCorrections(emptyReply, reply, places), places),
          );
        },
      ),
    );
  });
});

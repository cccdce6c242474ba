import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  canStillBeAnswer,
  createAnswerReader,
  endAnswer,
  readAnswer,
  readWholeReply,
} from './answer-reader.ts';
import type { AnswerOffer, ReplyReading } from './answer-reader.ts';
import { anchorFor } from './testing/continuation.ts';
import { dividedText } from './testing/splits.ts';

const MARKER = 'DONE 7f3a';
const SAVED = 'one\ntwo\nDONE\nI hope this helps you!\n';

function offering(choices: readonly string[], strict = false): AnswerOffer {
  return { choices, endMarker: MARKER, strict, anchor: anchorFor(SAVED) };
}

const END = offering(['END 7', 'END 3', 'DONE']);
const NEAR_MISS = offering(['DONE', 'KEEP']);
const FENCE = offering(['STRIP', 'KEEP']);
const OMISSION = offering(['KEEP', 'AGAIN']);
const LEAD = offering(['DROP', 'KEEP']);
const IDLE = offering(['DONE']);

function answer(choice: string, talk = '', isLowerCase = false): ReplyReading {
  return { kind: 'answer', choice, isLowerCase, talk };
}
const UNCLEAR: ReplyReading = { kind: 'unclear' };
const TEXT: ReplyReading = { kind: 'text' };

describe('what was offered, however it is decorated (R270)', () => {
  test.each([
    'END 3',
    'END 3<|im_end|>',
    'END 3</s>',
    'END 3.<｜end▁of▁sentence｜>',
    'END 3<turn|>\n',
    'END 3\n<|eot_id|>',
    '<|im_start|>assistant\nEND 3<|im_end|>',
    'assistant\n\nEND 3',
    'assistant: END 3',
    '<answer>END 3</answer>',
    '<answer>\nEND 3\n</answer>',
    '<final_answer>END 3</final_answer>',
    '<b>END 3</b>',
    'answer: END 3',
    '**Final Answer**\n\n\\boxed{END 3}',
    '$\\boxed{\\text{END 3}}$',
    '\\[\\boxed{END 3}\\]',
    '\u200bEND 3\u200b',
    '\ufeffEND 3',
    'END 3\n',
    '\r\n\r\n END  3\t\r\n\r\n',
    'END 3.',
    'END 3!',
    'END 3…',
    '**END 3**',
    '**END 3.**',
    '`END 3`',
    '"END 3".',
    '“END 3”',
    '«END 3»',
    '「END 3」。',
    "'END 3'",
    '> END 3',
    '# END 3',
    '_END 3_',
    '```\nEND 3\n```\n',
    '```text\nEND 3\n```',
    '~~~\nEND 3\n~~~',
    'END 03',
    'END 3\nEND 3',
    'END 3\n\nDONE',
    'END 3\nDONE 7f3a\n',
    'END 3\nDONE 0000',
  ])('%j', (reply) => {
    expect(readWholeReply(END, reply)).toEqual(answer('END 3'));
  });

  test.each([
    ['The file is complete. END 3', 'The file is complete.\n'],
    ['The file is complete. **END 3.**', 'The file is complete.\n'],
    ['Answer: END 3', 'Answer:\n'],
    ['**Answer:** END 3', 'Answer:\n'],
    ['文件已完成。END 3', '文件已完成。\n'],
    ['Yes, it ends there.\nEND 3', 'Yes, it ends there.\n'],
    ['END 3\n\nIs that clear?', 'Is that clear?\n'],
    ['¿Está claro? END 3', '¿Está claro?\n'],
    ['**All good!**\nEND 3\nThank you.\nBye!\n', '**All good!**\nThank you.\nBye!\n'],
    ['```\n\nOne.  \n\n \nTwo.\r\n\n```\n\nEND 3\n\n', 'One.  \n\n \nTwo.\r\n'],
    ['Sure.\nIt ends there. END 3\nEND 3', 'Sure.\nIt ends there.\n'],
  ])('%j with talk beside it', (reply, talk) => {
    expect(readWholeReply(END, reply)).toEqual(answer('END 3', talk));
  });

  test.each<[string, AnswerOffer, string, string, boolean]>([
    ['end', END, 'DONE', 'DONE', false],
    ['end, the own marker', END, 'DONE 7f3a', 'DONE', false],
    ['end, the marker of another session', END, 'DONE 0000', 'DONE', false],
    ['end, twice', END, 'DONE\nDONE', 'DONE', false],
    ['near miss', NEAR_MISS, '**DONE**', 'DONE', false],
    ['near miss', NEAR_MISS, 'KEEP.', 'KEEP', false],
    ['near miss, with the end of the message', NEAR_MISS, 'KEEP\nDONE', 'KEEP', false],
    ['fence', FENCE, '`STRIP`', 'STRIP', false],
    ['omission', OMISSION, 'AGAIN\n', 'AGAIN', false],
    ['lead', LEAD, 'DROP!', 'DROP', false],
    ['any letters', LEAD, 'drop.', 'DROP', true],
    ['any letters', FENCE, 'Keep', 'KEEP', false],
    ['any letters', END, 'end 7', 'END 7', true],
    ['any letters', END, 'Done.', 'DONE', false],
    ['any letters', IDLE, 'done', 'DONE', true],
    ['any letters', IDLE, '`done`\n', 'DONE', true],
    ['any letters, with the end of the message', LEAD, 'Drop\nDone', 'DROP', false],
  ])('%s: %j', (_name, offer, reply, choice, isLowerCase) => {
    expect(readWholeReply(offer, reply)).toEqual(answer(choice, '', isLowerCase));
  });
});

describe('what is no answer is asked again (R270)', () => {
  test.each<[AnswerOffer, string]>([
    [END, ''],
    [END, ' \n\r\n'],
    [END, '```\n```'],
    [END, 'END 4'],
    [END, 'KEEP'],
    [END, 'END 3\nEND 7'],
    [END, 'DONE\nEND 3'],
    [END, 'END 7\nEND 3\nDONE'],
    [END, 'The file ends before line 3.'],
    [END, 'I am not DONE yet.'],
    [END, 'The answer.\nend 3'],
    [END, 'Finished. done.'],
    [NEAR_MISS, 'DONE\nKEEP'],
    [FENCE, 'STRIP\nKEEP'],
    [FENCE, 'DONE'],
    [LEAD, 'Reply DROP if that is not part of the file (it will be left out).'],
    [LEAD, 'Reply with one of these, alone on a line: DROP, KEEP.'],
    [IDLE, 'Is DONE part of the file?'],
  ])('%j: %j', (offer, reply) => {
    expect(readWholeReply(offer, reply)).toEqual(UNCLEAR);
  });
});

describe('every mark that people put around a word (R270)', () => {
  test.each([...'"\'`*_#>“”„‟«»‹›‘’‚「」『』 \t\r'])('%j', (mark) => {
    expect(readWholeReply(LEAD, `${mark}DROP${mark}`)).toEqual(answer('DROP'));
    expect(readWholeReply(LEAD, `x${mark}DROP`)).toEqual(TEXT);
  });

  test.each([...'.!…。！'])('a stop: %s', (stop) => {
    expect(readWholeReply(LEAD, `DROP${stop}`)).toEqual(answer('DROP'));
    expect(readWholeReply(LEAD, `${stop}DROP x`).kind).toBe('text');
  });

  test.each([...'.!?…:。！？：'])('a sentence before it ends in %s', (stop) => {
    expect(readWholeReply(LEAD, `Yes${stop} DROP`)).toEqual(answer('DROP', `Yes${stop}\n`));
  });

  test.each([...'?？؟।'])('a line beside it ends in %s', (stop) => {
    expect(readWholeReply(LEAD, `Is it right${stop}\nDROP`)).toEqual(
      answer('DROP', `Is it right${stop}\n`),
    );
  });

  test.each([...'"\'`*_#>“”„‟«»‹›‘’‚「」『』¡¿'])('a line beside it is in %s', (mark) => {
    const talk = `${mark} Yes, that is it.`;
    expect(readWholeReply(LEAD, `${talk}\nDROP`)).toEqual(answer('DROP', `${talk}\n`));
  });

  test.each([
    ['The answer is no: DROP', TEXT],
    ['It is NEVER:\nDROP', TEXT],
    ['Neither：\nDROP', TEXT],
    ['It isn’t:\nDROP', TEXT],
    ["It isn't: DROP", TEXT],
    ['Not that, nor:\nDROP', TEXT],
    ['I know it:\nDROP', answer('DROP', 'I know it:\n')],
    ['Not sure.\nDROP', answer('DROP', 'Not sure.\n')],
    ['It is not:\nYes.\nDROP', answer('DROP', 'It is not:\nYes.\n')],
    ['It is: not clear.\nDROP', answer('DROP', 'It is: not clear.\n')],
  ])('a denial: %j', (reply, reading) => {
    expect(readWholeReply(LEAD, reply)).toEqual(reading);
  });
});

describe('how much stands beside an answer (R270)', () => {
  test.each<[string, ReplyReading]>([
    ['DROP\n'.repeat(8), answer('DROP')],
    ['DROP\n'.repeat(9), TEXT],
    [`${'```\n'.repeat(2)}DROP`, answer('DROP')],
    [`${'```\n'.repeat(3)}DROP`, TEXT],
    ['One.\nTwo.\nThree.\nDROP', answer('DROP', 'One.\nTwo.\nThree.\n')],
    ['One.\nTwo.\nThree.\nFour. DROP', TEXT],
    ['One.\nTwo.\n\nThree. DROP\n\n', answer('DROP', 'One.\nTwo.\n\nThree.\n')],
    [`${'_'.repeat(636)}DROP`, answer('DROP')],
    [`${'_'.repeat(637)}DROP`, TEXT],
    [`${'_'.repeat(637)}DROP\n`, TEXT],
    ['DROP\nDROP\nDONE', answer('DROP')],
    ['DROP\nDONE\nKEEP', UNCLEAR],
    ['DONE\nDROP', UNCLEAR],
    ['KEEP\nDROP', UNCLEAR],
    ['STRIP', UNCLEAR],
    ['Drop it.\nDrop', UNCLEAR],
    ['Yes.\nDROP\ndrop', UNCLEAR],
    ['Yes. drop', TEXT],
    ['DROP ab', TEXT],
    ['KEEP 3', TEXT],
    ['END 0x3', TEXT],
    ['END 3 3', TEXT],
  ])('%j', (reply, reading) => {
    expect(readWholeReply(LEAD, reply)).toEqual(reading);
    let reader = createAnswerReader(LEAD);
    for (const unit of reply) reader = readAnswer(reader, unit);
    expect(endAnswer(reader)).toEqual(reading);
  });
});

describe('what is a message like any other (R270)', () => {
  test.each<[AnswerOffer, string]>([
    [END, 'not END 3'],
    [END, 'DONE is part of the file'],
    [END, 'I am not DONE yet'],
    [END, 'END'],
    [END, 'END x'],
    [END, 'END3'],
    [END, 'END 3 or so'],
    [END, 'DONE 7f3'],
    [END, 'DONE 7f3ab'],
    [LEAD, 'The answer is not: DROP'],
    [LEAD, 'Not:\nDROP'],
    [LEAD, 'KEEP 3'],
    [END, 'const x = 1;\nDONE'],
    [END, 'DONE\nconst x = 1;'],
    [END, '  Indented.\nDONE'],
    [END, 'One.\nTwo.\nThree.\nFour.\nDONE'],
    [END, `${'A long line. '.repeat(13)}\nDONE`],
    [END, `${'```\n'.repeat(3)}DONE`],
    [END, 'DONE\n'.repeat(9)],
  ])('%j: %j', (offer, reply) => {
    expect(readWholeReply(offer, reply)).toEqual(TEXT);
  });

  test('talk has 600 characters at most', () => {
    const line = `A${'b'.repeat(158)}.`;
    expect(readWholeReply(END, `${line}\n${line}\n${line}\nDONE`).kind).toBe('answer');
    expect(readWholeReply(END, `A${line}\nDONE`)).toEqual(TEXT);
    // A character of two code units counts as one in a line of 160, and as two here.
    const wide = `A${'😀'.repeat(158)}.`;
    expect(readWholeReply(END, `${wide}\nDONE`).kind).toBe('answer');
    expect(readWholeReply(END, `${wide}\n${wide}\nDONE`)).toEqual(TEXT);
  });
});

describe('a reply that starts with the anchor goes on with the file (R270)', () => {
  const anchored = (saved: string): AnswerOffer => ({ ...END, anchor: anchorFor(saved) });

  test.each([
    [SAVED, `${SAVED}DONE`],
    ['He came late.\nNobody had waited.\n', 'He came late.\nNobody had waited.\nDONE'],
    ['He came late.\nNobody had waited.\n', '\n  He came late.\n\nNobody had waited. \r\nDONE'],
    ['He came late.\nNobody had waited.\n', 'Sure:\nHe came late.\nNobody had waited.\nDONE'],
    ['He came late.\nNobody had waited.\n', '```\nHe came late.\nNobody had waited.\nDONE'],
    ['Nobody had wai', 'Nobody had waited for him.\nDONE'],
  ])('%j: %j', (saved, reply) => {
    expect(readWholeReply(anchored(saved), reply)).toEqual(TEXT);
  });

  test('which is one of characters where the last line is long', () => {
    const saved = `${'Nobody had waited for so long, '.repeat(20)}and now`;
    const { anchor } = anchored(saved);
    expect(anchor?.kind).toBe('characters');
    const text = anchor?.kind === 'characters' ? anchor.text : '';
    expect(readWholeReply(anchored(saved), `${text} he left.\nDONE`)).toEqual(TEXT);
  });

  test('a part of it is not enough', () => {
    const saved = 'He came late.\nNobody had waited.\n';
    expect(readWholeReply(anchored(saved), 'He came late.\nDONE')).toEqual(
      answer('DONE', 'He came late.\n'),
    );
    expect(readWholeReply({ ...END, anchor: null }, `${saved}DONE`)).toEqual(answer('DONE', saved));
  });
});

describe('in strict mode the end marker takes the place of DONE (R270)', () => {
  test.each<[readonly string[], string, ReplyReading]>([
    [['DONE'], 'DONE 7f3a', answer('DONE')],
    [['DONE'], 'Yes, finished. DONE 7f3a', answer('DONE', 'Yes, finished.\n')],
    [['DONE'], 'done 7F3A', answer('DONE', '', true)],
    [['DONE'], 'DONE', UNCLEAR],
    [['DONE'], 'DONE 0000', UNCLEAR],
    [['DONE'], 'DONE\nDONE 7f3a', UNCLEAR],
    [['DONE', 'KEEP'], 'KEEP\nDONE', answer('KEEP')],
    [['DONE', 'KEEP'], 'KEEP\nDONE 7f3a', answer('KEEP')],
  ])('of %j: %j', (choices, reply, reading) => {
    expect(readWholeReply(offering(choices, true), reply)).toEqual(reading);
  });
});

describe('while it arrives', () => {
  const replies = fc
    .array(
      fc.constantFrom(
        'DONE',
        ' 7f3a',
        'END 3',
        'end ',
        'KEEP',
        'STRIP',
        ' ',
        '\n',
        '\r\n',
        '.',
        '**',
        '`',
        '```\n',
        'Yes, it is.\n',
        'Sure: ',
        'x',
        'one\ntwo\n',
        'DONE\nI hope this helps you!\n',
        'é',
        '😀',
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(''));

  test('every division of a reply reads the same (A1), and what is no answer stays none (A3)', () => {
    fc.assert(
      fc.property(
        dividedText(replies),
        fc.constantFrom(END, NEAR_MISS, FENCE, offering(['DONE', 'KEEP'], true)),
        ({ text, pieces }, offer) => {
          let reader = createAnswerReader(offer);
          let possible = true;
          let length = 0;
          for (const piece of pieces) {
            reader = readAnswer(reader, piece);
            length += piece.length;
            if (!possible) expect(canStillBeAnswer(reader)).toBe(false);
            possible = canStillBeAnswer(reader);
            expect(reader.held).toBe(text.slice(0, length));
          }
          expect(endAnswer(reader)).toEqual(readWholeReply(offer, text));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('a line of content is seen at its end, an endless one before', () => {
    const reader = readAnswer(createAnswerReader(END), 'const x = 1;');
    expect(canStillBeAnswer(reader)).toBe(true);
    expect(canStillBeAnswer(readAnswer(reader, '\n'))).toBe(false);
    expect(canStillBeAnswer(readAnswer(createAnswerReader(END), 'x'.repeat(640)))).toBe(true);
    expect(canStillBeAnswer(readAnswer(createAnswerReader(END), 'x'.repeat(641)))).toBe(false);
  });

  test('a repeated anchor is seen before the reply ends (A4)', () => {
    const offer = { ...END, anchor: anchorFor('He came late.\nNobody had waited.\n') };
    const reader = readAnswer(createAnswerReader(offer), 'He came late.\nNobody had waited.');
    expect(canStillBeAnswer(reader)).toBe(true);
    expect(canStillBeAnswer(readAnswer(reader, '\n'))).toBe(false);
    const withToken = '<|im_start|>assistant\nHe came late.\nNobody had waited.\nDONE';
    expect(readWholeReply(offer, withToken)).toEqual(TEXT);
  });

  test('blanks count as well: they are held (A3)', () => {
    const blanks = ' '.repeat(8_190);
    let reader = readAnswer(createAnswerReader(END), `DONE${blanks}`);
    reader = readAnswer(reader, `${blanks}`);
    expect(reader.held).toHaveLength(16_384);
    expect(endAnswer(reader)).toEqual(answer('DONE'));
    expect(canStillBeAnswer(readAnswer(reader, ' '))).toBe(false);
    expect(endAnswer(readAnswer(reader, ' '))).toEqual(TEXT);
  });
});

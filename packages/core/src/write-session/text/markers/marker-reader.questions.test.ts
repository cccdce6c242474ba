import { describe, expect, test } from 'vitest';
import { readMessage } from '../testing/read-message.ts';
import { DONE_ONCE_MORE } from './inner-done.ts';

describe('R023: an ambiguous DONE', () => {
  test('A3: text after the only DONE, and no marker', () => {
    const result = readMessage(['Steps:\nDONE\nnot finished\n']);
    expect(result.content).toBe('Steps:\nDONE\nnot finished\n');
    expect(result.ending).toEqual({
      kind: 'ambiguous',
      candidates: [{ line: 2, contentEnd: 7, following: 'not finished' }],
      nearMiss: null,
      innerDoneLines: [2],
      setAside: '',
    });
  });

  test('has at most two candidates, the last first, with bytes of the saved content', () => {
    const result = readMessage(['é\nDONE\n\n  b\nDONE\nc\nDONE \r\n\r\nThe end.'], {
      before: 'é\n',
    });
    expect(result.ending).toMatchObject({
      kind: 'ambiguous',
      candidates: [
        { line: 8, contentEnd: 23, following: 'The end.' },
        { line: 6, contentEnd: 16, following: 'c' },
      ],
      innerDoneLines: [3, 6, 8],
    });
  });

  test('names the first words, cut between characters', () => {
    const result = readMessage([`a\nDONE\n${'😀'.repeat(100)}\n`]);
    expect(result.ending).toMatchObject({
      candidates: [{ following: `${'😀'.repeat(79)}…` }],
    });
  });

  test('R022: a chat line after an inner DONE makes the message ambiguous; the last marker is held out', () => {
    const result = readMessage(['a\nDONE\n\nHere is the second part:\nb\nDONE\n\n']);
    expect(result.content).toBe('a\nDONE\n\nHere is the second part:\nb\n');
    expect(result.ending).toEqual({
      kind: 'ambiguous',
      candidates: [{ line: 2, contentEnd: 2, following: 'Here is the second part:' }],
      nearMiss: null,
      innerDoneLines: [2],
      setAside: '',
    });
  });

  test.each([
    ['indented', '  Here it is:'],
    ['lower case', 'here it is:'],
    ['no stop', 'Here it is'],
    ['too long', `H${'x'.repeat(170)}:`],
    ['far too long', `H${'x'.repeat(1000)}:`],
  ])('R022: %s: no chat line', (_name, line) => {
    expect(readMessage([`a\nDONE\n${line}\nb\nDONE\n`]).ending.kind).toBe('terminal');
  });

  test('R022: only the next non-blank line counts', () => {
    expect(readMessage(['a\nDONE\nb\nThat was b.\nDONE\n']).ending.kind).toBe('terminal');
  });

  test('R022: a chat line with many blanks after it is one', () => {
    const result = readMessage([`a\nDONE\nDone so far.${' '.repeat(1000)}\nb\nDONE\n`]);
    expect(result.ending.kind).toBe('ambiguous');
  });
});

describe('R021: a near miss', () => {
  test.each([
    ['decorated', 'é\n**DONE**\n', '**DONE**', 3],
    ['indented', 'a\n  DONE\n', '  DONE', 2],
    ['blank lines after it', 'a\nDONE.\n\n \r\n', 'DONE.', 2],
    ['capitalised', 'a\nDone!', 'Done!', 2],
    ['as only line', '[DONE]\n', '[DONE]', 0],
    ['joined to the last line', 'é\nlast lineDONE', 'DONE', 12],
    ['joined to a bracket, which stays', 'f() {\n}DONE', 'DONE', 7],
    ['the end marker joined', 'é\nlast lineDONE 7f3a', 'DONE 7f3a', 12],
  ])('%s', (_name, message, text, contentEnd) => {
    const result = readMessage([message]);
    expect(result.content).toBe(message);
    expect(result.ending).toEqual({
      kind: 'near_miss',
      text,
      contentEnd,
      innerDoneLines: [],
      setAside: '',
    });
  });

  test.each([
    ['A2', 'a\nDONENESS\n done\n'],
    ['a sentence on a complete line', 'a\nI am DONE\n'],
    ['joined, but the line is complete', 'a\nx=DONE\n'],
    ['not the last line', '**DONE**\nb\n'],
    ['far above the end', `DONE.\n${'\n'.repeat(5000)}`],
  ])('none: %s', (_name, message) => {
    expect(readMessage([message]).ending.kind).toBe('none');
  });

  test('R030: DONE joined to the open line of the content before it', () => {
    const result = readMessage(['DONE'], { before: 'last line' });
    expect(result.content).toBe('DONE');
    expect(result.ending).toMatchObject({ kind: 'near_miss', text: 'DONE', contentEnd: 9 });
    const withToken = readMessage(['DONE</s>'], { before: 'last line' });
    expect(withToken.ending).toMatchObject({ text: 'DONE</s>', contentEnd: 9 });
  });

  test('a line whose beginning stood there before is judged by its end alone', () => {
    expect(readMessage(['. DONE\n'], { before: 'I am' }).ending.kind).toBe('none');
    expect(readMessage(['.DONE'], { before: 'I am' }).ending).toMatchObject({
      kind: 'near_miss',
      text: 'DONE',
      contentEnd: 5,
    });
    expect(readMessage(['. DONE'], { before: 'I am' }).ending).toMatchObject({
      kind: 'near_miss',
      text: ' DONE',
      contentEnd: 5,
    });
  });

  test('R022: an inner DONE is the better question, and the near miss comes with it', () => {
    expect(readMessage(['a\nDONE\nb\n**DONE**']).ending).toEqual({
      kind: 'ambiguous',
      candidates: [{ line: 2, contentEnd: 2, following: 'b' }],
      nearMiss: { text: '**DONE**', contentEnd: 9 },
      innerDoneLines: [2],
      setAside: '',
    });
    expect(readMessage(['Buy milk\nDONE\nWrite to Ann\nDONE.']).ending).toMatchObject({
      candidates: [{ line: 2 }],
      nearMiss: { text: 'DONE.', contentEnd: 27 },
    });
  });
});

describe('R296: more near misses', () => {
  const found = (pieces: readonly string[], before = '') => {
    const { ending } = readMessage(pieces, { before });
    return ending.kind === 'near_miss' ? [ending.text, ending.contentEnd] : ending.kind;
  };

  test.each<[string, string, string, number]>([
    ['blanks before DONE', 'x = 1\ny = 2 DONE', ' DONE', 11],
    ['and behind it', 'x = 1\ny = 2 DONE  ', ' DONE', 11],
    ['behind the end of a fence', '# T\n\n```sh\nmake\n``` DONE', ' DONE', 19],
    ['behind a fence that closes none', '# T\n\n```sh\nmake\n```\n\n``` DONE', '``` DONE', 20],
    ['done', 'é\ndone', 'done', 3],
    ['done on a complete line', 'é\ndone\n\n', 'done', 3],
    ['done behind a loop that is closed', 'for x; do\ndone < x\ndone', 'done', 19],
    ['and on a complete line', 'for x; do\n  done\ndone\n', 'done', 17],
    ['a remark', 'é\n\nI hope this helps you!\n', 'I hope this helps you!', 3],
    ['a remark on an open line', 'é\r\n\r\n \r\nAll done!', 'All done!', 4],
  ])('%s', (_name, message, text, contentEnd) => {
    expect(found([message])).toEqual([text, contentEnd]);
  });

  test.each([
    ['done behind a loop', 'for x in *; do\n  echo\ndone\n'],
    ['done behind two loops', 'for x; do\n for y; do\n done\ndone\n'],
    ['done behind a closed loop and an open one', 'for x; do\ndone;\nfor y; do\ndone'],
    ['done behind a word that begins like it', 'for x; do\ndones\ndone'],
    ['done behind a loop on lines of its own', 'while x\n\tdo\necho\ndone'],
    ['a remark without a blank line before it', 'x = 1\nI have written the file.'],
    ['a remark alone', 'I have written the file.\n'],
    ['a remark behind blank lines alone', '\n\nI have written the file.\n'],
    ['a remark behind more blanks than are looked at', `x${'\n'.repeat(5_000)}All done!`],
    ['a remark in a paragraph of two lines', 'x\n\nI hope so.\nI hope this helps!\n'],
    ['an indented remark', 'x\n\n  I hope this helps!\n'],
  ])('none: %s', (_name, message) => {
    expect(found([message])).toBe('none');
  });

  test('what is saved counts: a loop, and the text before a remark', () => {
    expect(found(['done\n'], 'for x in *; do\n')).toBe('none');
    expect(found(['done\n'], 'for x in *; dont\n')).toEqual(['done', 17]);
    expect(found(['\nAll done!\n'], 'é\n')).toEqual(['All done!', 3]);
    expect(found(['\n\nAll done!\n'], 'é')).toEqual(['All done!', 3]);
    expect(found(['\nAll done!\n'], 'é')).toBe('none');
    expect(found(['All done!\n'], 'é\n')).toBe('none');
  });

  test('a marker of which the beginning was cut off is one', () => {
    expect(found(['ONE'], 'é\nD')).toEqual(['DONE', 3]);
    expect(found(['NE\n\n'], 'é\nDO')).toEqual(['DONE', 3]);
    expect(found(['a'], 'é\nDONE 7f3')).toEqual(['DONE 7f3a', 3]);
    expect(found(['ONE'], 'é\n D')).toBe('none');
    expect(found(['ONE\nDONE'], 'é\nD')).toEqual(['DONE', 3]);
    expect(found(['ONE\n\nDONE\n'], 'é\nD')).toEqual(['DONE', 3]);
    expect(found(['ONE more\nDONE'], 'é\nD')).toBe('terminal');
    expect(found(['ONE\nx'], 'é\nD')).toBe('none');
    expect(found(['ONESS'], 'é\nD')).toBe('none');
  });

  test('not in a message with a marker', () => {
    expect(found(['x\n\nI hope this helps you!\nDONE'])).toBe('terminal');
    expect(found(['x\ndone\nDONE'])).toBe('terminal');
  });
});

describe('R021: a near miss that is a paragraph of its own goes with the blank lines before it', () => {
  test.each([
    ['in back-ticks', 'é\n\n \r\n`DONE`\n', '`DONE`'],
    ['done', 'é\n\ndone', 'done'],
    ['a DONE in a fence', 'é\n\n```\nDONE\n```\n', '```\nDONE\n```'],
    [
      'a DONE in a fence without a blank line before it',
      'é\n~~~text\nDONE 0000\n~~~',
      '~~~text\nDONE 0000\n~~~',
    ],
  ])('%s', (_name, message, text) => {
    expect(readMessage([message]).ending).toMatchObject({ kind: 'near_miss', text, contentEnd: 3 });
    expect(readMessage([message], { before: 'ab\n' }).ending).toMatchObject({ contentEnd: 6 });
  });

  test('a DONE in a fence is no inner DONE, others are', () => {
    expect(readMessage(['a\nDONE\nb\n```\nDONE\n```\n']).ending).toMatchObject({
      kind: 'ambiguous',
      candidates: [{ line: 2, contentEnd: 2, following: 'b' }],
      nearMiss: { text: '```\nDONE\n```', contentEnd: 9 },
      innerDoneLines: [2, 5],
    });
    expect(readMessage(['```\nDONE\n```\n'], { before: 'a\n' }).ending).toMatchObject({
      kind: 'near_miss',
      contentEnd: 2,
    });
  });

  test.each([
    ['it closes a block', '```js\nx\n```\nDONE\n```\n'],
    ['more stands in it', 'a\n```\nx\nDONE\n```\n'],
    ['another fence closes it', 'a\n````\nDONE\n```\n'],
    ['text behind it', 'a\n```\nDONE\n```\nb\n'],
  ])('a fence that does not quote a DONE alone: %s', (_name, message) => {
    expect(readMessage([message]).ending).toMatchObject({ kind: 'ambiguous', nearMiss: null });
  });
});

describe('R273: DONE twice at the end', () => {
  const doubled = (line: number, contentEnd: number) => ({
    line,
    contentEnd,
    following: DONE_ONCE_MORE,
  });

  test.each([
    ['at once', 'é\nDONE\nDONE\n', 'é\nDONE\n', [doubled(2, 3)]],
    ['with blank lines between', 'a\nDONE\n\n \r\nDONE', 'a\nDONE\n\n \r\n', [doubled(2, 2)]],
    ['three times', 'a\nDONE\nDONE\nDONE', 'a\nDONE\nDONE\n', [doubled(3, 7), doubled(2, 2)]],
    [
      'four times: the last and the first',
      'a\nDONE\nDONE\nDONE\nDONE',
      'a\nDONE\nDONE\nDONE\n',
      [doubled(4, 12), doubled(2, 2)],
    ],
    [
      'behind a DONE with chat',
      'a\nDONE\nThat is it.\nDONE\nDONE',
      'a\nDONE\nThat is it.\nDONE\n',
      [doubled(4, 19), { line: 2, contentEnd: 2, following: 'That is it.' }],
    ],
  ])('is asked about: %s', (_name, message, content, candidates) => {
    const result = readMessage([message]);
    expect(result.content).toBe(content);
    expect(result.ending).toMatchObject({ kind: 'ambiguous', candidates, nearMiss: null });
  });

  test.each([
    ['text between', 'a\nDONE\nb\nDONE\n'],
    ['twice within', 'a\nDONE\nDONE\nb\nDONE\n'],
    ['before the own end marker', 'a\nDONE\nDONE 7f3a\n'],
    ['a message of nothing else', 'DONE\n\nDONE\n'],
  ])('is not asked about: %s', (_name, message) => {
    expect(readMessage([message]).ending.kind).toBe('terminal');
  });

  test('is asked about behind text that the message has only repeated', () => {
    const result = readMessage(['DONE\nDONE\n'], { before: 'a\n' });
    expect(result.content).toBe('DONE\n');
    expect(result.ending).toMatchObject({ kind: 'ambiguous', candidates: [doubled(2, 2)] });
  });
});

import { describe, expect, test } from 'vitest';
import { readMessage } from '../testing/read-message.ts';

describe('R023: an ambiguous DONE', () => {
  test('A3: text after the only DONE, and no marker', () => {
    const result = readMessage(['Steps:\nDONE\nnot finished\n']);
    expect(result.content).toBe('Steps:\nDONE\nnot finished\n');
    expect(result.ending).toEqual({
      kind: 'ambiguous',
      candidates: [{ line: 2, contentEnd: 7, following: 'not finished' }],
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
    ['A2', 'a\nDONENESS\n done\ndone\n'],
    ['a sentence', 'a\nI am DONE'],
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
  });

  test('a line whose beginning stood there before is judged by its end alone', () => {
    expect(readMessage(['. DONE'], { before: 'I am' }).ending.kind).toBe('none');
    expect(readMessage(['.DONE'], { before: 'I am' }).ending.kind).toBe('near_miss');
  });

  test('R022: an inner DONE is the better question', () => {
    expect(readMessage(['a\nDONE\nb\n**DONE**']).ending.kind).toBe('ambiguous');
  });
});

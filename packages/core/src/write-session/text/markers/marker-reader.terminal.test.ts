import { describe, expect, test } from 'vitest';
import { createMarkerReader, holdsMarker, readMarkers } from './marker-reader.ts';
import { INNER_DONE_LIMIT } from './released-content.ts';
import { END_MARKER, readMessage } from '../testing/read-message.ts';
import { unitsOf } from '../testing/splits.ts';

type Row = readonly [name: string, message: string, content: string];

const TERMINAL: readonly Row[] = [
  ['R020 with LF', 'a\nDONE\n', 'a\n'],
  ['R020 with CRLF', 'a\r\nDONE\r\n', 'a\r\n'],
  ['R020 DONE and CR at the end', 'a\nDONE\r', 'a\n'],
  ['R020 blanks after it', 'a\nDONE \t \n', 'a\n'],
  ['R020 blanks and CR at the end', 'a\nDONE \t\r', 'a\n'],
  ['R020 as first line', 'DONE\n', ''],
  ['R027 without line ending', 'a\nDONE', 'a\n'],
  ['R028 blank lines after it', 'a\nDONE\n\n  \r\n\t\n ', 'a\n'],
  ['R029 the line ending before it stays', 'a\n\n\nDONE', 'a\n\n\n'],
  ['R029 blanks before it stay', 'a  \nDONE', 'a  \n'],
  ['R034 another session id is a bare DONE', 'a\nDONE beef\n', 'a\n'],
  ['R034 another session id at the end', 'a\nDONE 0000', 'a\n'],
];

describe('a bare DONE ends the content (M4, M5)', () => {
  test.each(TERMINAL)('%s', (_name, message, content) => {
    const result = readMessage([message]);
    expect(result.content).toBe(content);
    expect(result.ending).toEqual({
      kind: 'terminal',
      marker: 'done',
      innerDoneLines: [],
      setAside: '',
    });
    expect(result.blank).toBe(content.trim() === '');
    expect(result.rest).toBeNull();
    expect(readMessage(unitsOf(message))).toEqual(result);
  });
});

const NOT_A_MARKER: readonly (readonly [name: string, message: string])[] = [
  ['a longer word, indented, lower case', 'a\nDONENESS\n done\ndone\nb\n'],
  ['R020 lower case', 'a\ndone\nb\n'],
  ['R020 only LF ends a line: lone CR', 'a\rDONE\rb\n'],
  ['R020 a CR that no LF follows', 'a\nDONE\rb\n'],
  ['R020 two CR', 'a\nDONE\r\r\n'],
  ['R020 a CR among blanks', 'a\nDONE \r \n'],
  ['A18 U+2028', 'a\u2028DONE\u2028'],
  ['A18 U+2029', 'a\u2029DONE\u2029'],
  ['A18 U+0085, VT, FF', 'a\u0085DONE\u0085\vDONE\v\fDONE\f\n'],
  ['R020 a no-break space after it', 'a\nDONE\u00a0b\n'],
  ['R025 a word that goes on', 'a\nDONE-list\n'],
  ['R034 upper-case digits', 'a\nDONE 7F3A x\n'],
  ['R034 five digits', 'a\nDONE 7f3a0\n'],
  ['R034 two blanks', 'a\nDONE  7f3a\n'],
];

describe('what is no marker is content, byte for byte', () => {
  test.each(NOT_A_MARKER)('%s', (_name, message) => {
    const result = readMessage([message]);
    expect(result.content).toBe(message);
    expect(result.ending.kind).toBe('none');
    expect(readMessage(unitsOf(message))).toEqual(result);
  });
});

describe('R034: the session’s own end marker', () => {
  test('ends the content wherever it stands; the rest is chat', () => {
    const result = readMessage(['a\nDONE\nb\nDONE 7f3a \r\nThat is all.\n', 'More.']);
    expect(result.content).toBe('a\nDONE\nb\n');
    expect(result.rest).toBe('That is all.\nMore.');
    expect(result.ending).toEqual({
      kind: 'terminal',
      marker: 'end_marker',
      innerDoneLines: [2],
      setAside: '',
    });
  });

  test('at the message end needs no line ending', () => {
    const result = readMessage(['a\nDONE 7f3a']);
    expect(result).toMatchObject({ content: 'a\n', rest: null });
    expect(result.ending).toMatchObject({ kind: 'terminal', marker: 'end_marker' });
  });

  test('makes a DONE directly before it content', () => {
    const result = readMessage(['a\nDONE\n\nDONE 7f3a\n']);
    expect(result.content).toBe('a\nDONE\n\n');
    expect(result.ending).toMatchObject({ marker: 'end_marker', innerDoneLines: [2] });
    expect(readMessage(['DONE\nDONE 7f3a\n'])).toMatchObject({ content: 'DONE\n', blank: false });
  });

  test('ends also a message in which a chat line follows a DONE', () => {
    const result = readMessage(['a\nDONE\nThat was it.\nDONE 7f3a\n']);
    expect(result.content).toBe('a\nDONE\nThat was it.\n');
    expect(result.ending).toMatchObject({ kind: 'terminal', innerDoneLines: [2] });
  });

  test('in strict mode is the only marker', () => {
    const result = readMessage(['a\nDONE\nDONE beef\nDONE \nDONE 7f3a\n'], { strict: true });
    expect(result.content).toBe('a\nDONE\nDONE beef\nDONE \n');
    expect(result.ending).toEqual({
      kind: 'terminal',
      marker: 'end_marker',
      innerDoneLines: [],
      setAside: '',
    });
    expect(readMessage(['a\nDONE'], { strict: true })).toMatchObject({
      content: 'a\nDONE',
      ending: { kind: 'none' },
    });
  });
});

describe('R022: earlier DONE lines', () => {
  test('R024, A3: are content and listed', () => {
    const result = readMessage(['Steps:\nDONE\nnot finished\nDONE\n']);
    expect(result.content).toBe('Steps:\nDONE\nnot finished\n');
    expect(result.ending).toMatchObject({ kind: 'terminal', innerDoneLines: [2] });
  });

  test('are counted in the saved content, after what was there before', () => {
    const result = readMessage(['DONE\nb\nDONE\n'], { before: 'one\ntwo\n' });
    expect(result.ending).toMatchObject({ kind: 'terminal', innerDoneLines: [3] });
  });

  test('R039 (a), R044: a message of markers alone adds nothing', () => {
    expect(readMessage(['DONE\n\nDONE\nDONE'])).toMatchObject({
      content: '',
      blank: true,
      ending: { kind: 'terminal', innerDoneLines: [] },
    });
    expect(readMessage(['DONE\n\nDONE\nx\n'])).toMatchObject({
      content: 'DONE\n\nDONE\nx\n',
      ending: { kind: 'ambiguous', innerDoneLines: [1, 3] },
    });
  });

  test('are listed up to a limit', () => {
    const result = readMessage([`${'x\nDONE\n'.repeat(INNER_DONE_LIMIT + 5)}`]);
    expect(result.ending.innerDoneLines).toHaveLength(INNER_DONE_LIMIT);
    expect(result.ending.kind).toBe('terminal');
  });
});

describe('R022, WRITE_SESSION_DONE_MODE=first', () => {
  test('the first DONE ends the content, the remainder is set aside', () => {
    const result = readMessage(['a\nDONE\nb\n', 'DONE\nc'], { doneMode: 'first' });
    expect(result.content).toBe('a\n');
    expect(result.ending).toEqual({
      kind: 'terminal',
      marker: 'done',
      innerDoneLines: [],
      setAside: 'b\nDONE\nc',
    });
  });

  test('a blank remainder is nothing', () => {
    const result = readMessage(['a\nDONE\n', ' \n\n'], { doneMode: 'first' });
    expect(result.ending).toMatchObject({ kind: 'terminal', setAside: '' });
  });

  test('a broken stream ends nothing and loses nothing', () => {
    const result = readMessage(['a\nDONE\nb'], { doneMode: 'first', orderly: false });
    expect(result.content).toBe('a\n');
    expect(result.ending).toMatchObject({ kind: 'none', setAside: 'b' });
  });
});

describe('R031: a message that did not end in order', () => {
  test.each([
    ['a complete marker is discarded', 'a\nDONE\n\n', 'a\n'],
    ['a marker without line ending too', 'a\nDONE', 'a\n'],
    ['the end marker without line ending too', 'a\nDONE 7f3a', 'a\n'],
    ['the beginning of a marker is text', 'a\nDO', 'a\nDO'],
    ['text after a DONE makes it content', 'a\nDONE\nDO', 'a\nDONE\nDO'],
  ])('%s', (_name, message, content) => {
    const result = readMessage([message], { orderly: false });
    expect(result.content).toBe(content);
    expect(result.ending.kind).toBe('none');
  });

  test('asks no question, and still names the inner DONE lines', () => {
    const result = readMessage(['a\nDONE\nNow the rest:\nb\n**DONE**'], { orderly: false });
    expect(result.ending).toEqual({ kind: 'none', innerDoneLines: [2], setAside: '' });
  });
});

test('R031: holdsMarker says whether the message could end here', () => {
  const states: readonly (readonly [string, boolean])[] = [
    ['a\n', false],
    ['DO', false],
    ['NE', true],
    [' \n', true],
    ['\n', true],
    ['x', false],
    ['\nDONE 7f', false],
    ['3a', true],
  ];
  let reader = createMarkerReader({
    endMarker: END_MARKER,
    strict: false,
    doneMode: 'terminal',
    atLineStart: true,
    openLine: '',
    followsText: false,
    contentBytes: 0,
    contentLines: 0,
    wrappingFence: null,
    dropBlankLines: false,
  });
  for (const [text, expected] of states) {
    reader = readMarkers(reader, text).reader;
    expect([text, holdsMarker(reader)]).toEqual([text, expected]);
  }
});

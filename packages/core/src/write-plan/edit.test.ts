import { OrionError } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { planOn, resultOf } from './testing/memory-files.ts';

/** Hazard: an edit that lands somewhere else, or changes bytes that nobody named. */

type Case = [name: string, file: string, operation: object, result: string];

async function edited(file: string, operation: object, plan: object = {}): Promise<string> {
  const planned = await planOn(
    { 'a.txt': file },
    { intent: 'test', target_file: 'a.txt', operations: [operation], ...plan },
  );
  const [verdict] = planned.verdicts;
  if (verdict?.kind === 'refused') throw verdict.error;
  return resultOf(planned);
}

async function refusal(file: string, operation: object): Promise<OrionError> {
  const error: unknown = await edited(file, operation).catch((thrown: unknown) => thrown);
  if (!OrionError.isInstance(error)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

const insert = (position: string, content: string, marker = 'two'): object => ({
  type: 'insert',
  location_marker: marker,
  position,
  content,
});
const replace = (content: string, more: object = {}): object => ({
  type: 'replace',
  start_marker: 'BEGIN',
  end_marker: 'END',
  content,
  ...more,
});

const all = (find: string, content: string, more: object = {}): object => ({
  type: 'replace_all',
  find,
  content,
  ...more,
});

const INSERTS: readonly Case[] = [
  ['before', 'one\ntwo\nthree\n', insert('before', 'new\n'), 'one\nnew\ntwo\nthree\n'],
  ['after', 'one\ntwo\nthree\n', insert('after', 'new\n'), 'one\ntwo\nnew\nthree\n'],
  ['a marker inside its line', 'a two b\n', insert('before', 'new\n'), 'new\na two b\n'],
  ['a block without a final ending', 'one\ntwo\n', insert('before', 'new'), 'one\nnew\ntwo\n'],
  ['after a last line without an ending', 'one\ntwo', insert('after', 'new\n'), 'one\ntwo\nnew'],
  ['before it', 'one\ntwo', insert('before', 'new\n'), 'one\nnew\ntwo'],
  ['into CRLF lines', 'one\r\ntwo\r\n', insert('after', 'x\ny\n'), 'one\r\ntwo\r\nx\r\ny\r\n'],
  ['CRLF into CRLF', 'one\r\ntwo\r\n', insert('after', 'x\r\ny'), 'one\r\ntwo\r\nx\r\ny\r\n'],
  ['mixed endings stay mixed', 'a\r\ntwo\nb\n', insert('after', 'x\n'), 'a\r\ntwo\nx\nb\n'],
  [
    'a marker of two lines',
    'a\none\ntwo\nb\n',
    insert('after', 'x\n', 'one\ntwo'),
    'a\none\ntwo\nx\nb\n',
  ],
  [
    'that in CRLF lines',
    'one\r\ntwo\r\nb\r\n',
    insert('after', 'x\n', 'one\ntwo'),
    'one\r\ntwo\r\nx\r\nb\r\n',
  ],
  ['a marker that ends a line', 'two\nb\n', insert('after', 'x\n', 'two\n'), 'two\nx\nb\n'],
  ['behind a byte order mark', '\ufefftwo\n', insert('before', 'x\n'), '\ufeffx\ntwo\n'],
  ['nothing', 'one\ntwo\n', insert('after', ''), 'one\ntwo\n'],
  ['$& as it is', 'two\n', insert('after', '$& $1\n'), 'two\n$& $1\n'],
  [
    'a regex',
    'one\ntwo 2\nthree 33\n',
    { ...insert('after', 'x\n', '^t\\w+ \\d$'), marker_type: 'regex' },
    'one\ntwo 2\nx\nthree 33\n',
  ],
  [
    'a regex in CRLF lines behind a byte order mark and wide characters',
    '\ufeff日本\r\n終 two\r\nb\r\n',
    { ...insert('before', 'x\n', 'two$'), marker_type: 'regex' },
    '\ufeff日本\r\nx\r\n終 two\r\nb\r\n',
  ],
  [
    'an empty line',
    'a\n\nb\n',
    { ...insert('after', 'x\n', '^$'), marker_type: 'regex' },
    'a\n\nx\nb\n',
  ],
];

const REPLACES: readonly Case[] = [
  ['lines', 'a\nBEGIN\nold\nEND\nb\n', replace('new\n'), 'a\nBEGIN\nnew\nEND\nb\n'],
  [
    'markers in longer lines',
    '# BEGIN x\nold\n# END x\n',
    replace('new'),
    '# BEGIN x\nnew\n# END x\n',
  ],
  ['an empty block', 'BEGIN\nEND\n', replace('new\n'), 'BEGIN\nnew\nEND\n'],
  ['by nothing', 'BEGIN\nold\nEND\n', replace(''), 'BEGIN\nEND\n'],
  [
    'with the markers',
    'a\nBEGIN\nold\nEND\nb\n',
    replace('new\n', { include_markers: true }),
    'a\nnew\nb\n',
  ],
  [
    'with the markers at an open end',
    'a\nBEGIN\nEND',
    replace('new\n', { include_markers: true }),
    'a\nnew',
  ],
  ['in one line', 'a BEGINoldEND b\n', replace('new\n'), 'a BEGINnewEND b\n'],
  [
    'in one line, with the markers',
    'a BEGINoldEND b\n',
    replace('new', { include_markers: true }),
    'a new b\n',
  ],
  ['in CRLF lines', 'BEGIN\r\nold\r\nEND\r\n', replace('x\ny\n'), 'BEGIN\r\nx\r\ny\r\nEND\r\n'],
];

const REPLACES_ALL: readonly Case[] = [
  ['literally', 'aXb', all('X', '[$&]'), 'a[$&]b'],
  ['without overlap', 'aaaaa\n', all('aa', 'b'), 'bba\n'],
  ['by nothing', 'a.b.c', all('.', ''), 'abc'],
  ['everything', 'xx', all('x', ''), ''],
  ['a line feed of CRLF lines', 'a\r\nb\r\n', all('a\nb', 'c\nd'), 'c\r\nd\r\n'],
  ['as often as expected', 'aXbX', all('X', 'y', { expected_count: 2 }), 'ayby'],
];

const WHOLE_FILES: readonly Case[] = [
  ['append', 'a\n', { type: 'append', content: 'b' }, 'a\nb'],
  ['append to CRLF lines', 'a\r\n', { type: 'append', content: 'b\n' }, 'a\r\nb\r\n'],
  ['append to an open line', 'a', { type: 'append', content: 'b\n' }, 'ab\n'],
  ['overwrite', 'a\n', { type: 'overwrite', content: 'b' }, 'b'],
  ['overwrite CRLF lines', 'a\r\n', { type: 'overwrite', content: 'b\nc\n' }, 'b\r\nc\r\n'],
  [
    'overwrite them with mixed ones',
    'a\r\n',
    { type: 'overwrite', content: 'b\nc\r\n' },
    'b\nc\r\n',
  ],
  [
    'overwrite keeps a byte order mark',
    '\ufeffa\n',
    { type: 'overwrite', content: 'b\n' },
    '\ufeffb\n',
  ],
];

describe('insert', () => {
  it.each(INSERTS)('%s', async (_name, file, operation, result) => {
    expect(await edited(file, operation)).toBe(result);
  });

  it('takes the text as it is when the plan says so', async () => {
    const operation = insert('after', 'x\ny\n');
    expect(await edited('two\r\n', operation, { eol: 'as-is' })).toBe('two\r\nx\ny\n');
  });

  it('is refused without a marker, with the count and the first five lines of several', async () => {
    expect((await refusal('one\n', insert('after', 'x'))).code).toBe('MARKER_NOT_FOUND');
    const error = await refusal('two\nx\ntwo two\ntwo\ntwo\ntwo\n', insert('after', 'x'));
    expect(error).toMatchObject({
      code: 'MARKER_NOT_UNIQUE',
      details: { marker: 'location_marker', count: 6, lines: [1, 3, 3, 4, 5] },
    });
    expect(error.message).toContain('matches 6 places of a.txt, at lines 1, 3, 3, 4, 5 …');
  });

  it('takes overlapping places for several', async () => {
    expect((await refusal('aaa\n', insert('after', 'x', 'aa'))).details['count']).toBe(2);
  });
});

describe('replace', () => {
  it.each(REPLACES)('%s', async (_name, file, operation, result) => {
    expect(await edited(file, operation)).toBe(result);
  });

  it.each([
    ['no start', 'END\n', 'MARKER_NOT_FOUND'],
    ['no end', 'BEGIN\n', 'MARKER_NOT_FOUND'],
    ['the end before the start', 'END\nBEGIN\n', 'MARKER_NOT_FOUND'],
    ['two ends', 'BEGIN\nEND\nEND\n', 'MARKER_NOT_UNIQUE'],
  ])('is refused: %s', async (_name, file, code) => {
    expect((await refusal(file, replace('x'))).code).toBe(code);
  });
});

describe('replace_all', () => {
  it.each(REPLACES_ALL)('%s', async (_name, file, operation, result) => {
    expect(await edited(file, operation)).toBe(result);
  });

  it('is refused without a match, or with another number of them', async () => {
    expect((await refusal('abc', all('X', 'y'))).code).toBe('NO_MATCH');
    const error = await refusal('aXbX', all('X', 'y', { expected_count: 1 }));
    expect(error).toMatchObject({ code: 'COUNT_MISMATCH', details: { count: 2, expected: 1 } });
  });
});

describe('whole files', () => {
  it.each(WHOLE_FILES)('%s', async (_name, file, operation, result) => {
    expect(await edited(file, operation)).toBe(result);
  });

  it('tells when the first added line goes on in the last one', async () => {
    const planned = await planOn(
      { 'a.txt': 'a' },
      { intent: 'test', target_file: 'a.txt', operations: [{ type: 'append', content: 'b' }] },
    );
    expect(planned.verdicts[0]).toMatchObject({ edit: { warnings: ['joined_without_newline'] } });
  });

  it('refuses what is no text', async () => {
    for (const content of ['a\0b', 'a\ud800b']) {
      expect((await refusal('a', { type: 'overwrite', content })).code).toBe('INVALID_CONTENT');
    }
  });
});

describe('what is told of an edit', () => {
  it('where it lies, how much it is, and what it changes', async () => {
    const told: string[] = [];
    for (const [name, file, operation] of [
      ...INSERTS,
      ...REPLACES,
      ...REPLACES_ALL,
      ...WHOLE_FILES,
    ]) {
      const planned = await planOn(
        { 'a.txt': file },
        { intent: 'test', target_file: 'a.txt', operations: [operation] },
      );
      const { verdicts, changes } = planned;
      const [verdict] = verdicts;
      const edit = verdict?.kind === 'planned' ? verdict.edit : {};
      const { state, givenBytes, crlf } = changes[0] ?? {};
      const { image, readBase: _, ...flags } = state ?? {};
      told.push(
        [
          `${name}: ${JSON.stringify(file)}`,
          JSON.stringify(edit, (_key, value: unknown) =>
            typeof value === 'function' ? 'bytes' : value,
          ),
          JSON.stringify({ ...flags, givenBytes, crlf, pieces: image?.pieces.length }),
        ].join('\n  '),
      );
    }
    await expect(`${told.join('\n')}\n`).toMatchFileSnapshot('__snapshots__/edits.txt');
  });

  it.each<[string, string, object]>([
    ['no marker', 'one\n', insert('after', 'x')],
    ['a marker that is long', 'one\n', insert('after', 'x', `${'m'.repeat(79)}😀 and more`)],
    ['two places', 'two\n\ntwo\n', insert('after', 'x')],
    ['five places', 'two\ntwo\ntwo\ntwo\ntwo\n', insert('after', 'x')],
    ['six places', 'two\ntwo two\ntwo\ntwo\ntwo\n', insert('after', 'x')],
    ['no start', 'END\n', replace('x')],
    ['no end', 'BEGIN\n', replace('x')],
    ['two starts', 'BEGIN\nBEGIN\nEND\n', replace('x')],
    ['two ends', 'BEGIN\nEND\nEND\n', replace('x')],
    ['the end before the start', 'a\nEND\nb\nBEGIN\n', replace('x')],
    ['markers that overlap', 'a\nabc\n', replace('x', { start_marker: 'ab', end_marker: 'bc' })],
    ['nothing to replace', 'abc', all('X', 'y')],
    ['more than expected', 'aXbX', all('X', 'y', { expected_count: 1 })],
    ['fewer than expected', 'aX', all('X', 'y', { expected_count: 2 })],
    ['a NUL', 'a', { type: 'overwrite', content: 'b\n\0 and \0' }],
    ['half a character', 'a', { type: 'append', content: 'é\ud800' }],
  ])('why it is refused: %s', async (_name, file, operation) => {
    const { code, message, hint, details } = await refusal(file, operation);
    const { invalid_contexts: _, ...rest } = details;
    expect({ code, message, hint, details: rest }).toMatchSnapshot();
  });
});

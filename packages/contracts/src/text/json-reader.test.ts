import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { JsonReader, MAX_JSON_DEPTH, jsonErrorPosition } from './json-reader.ts';

test.each([
  ['{"a": x}', 6],
  ['{"a": 1', 7],
  ['{"a": "b', 8],
  ['{"a": "b\\', 9],
  ['{"a": "\\q"}', 8],
  ['{"a": "\\u12x4"}', 11],
  ['{"a": "line\nbreak"}', 11],
  ['{"a" 1}', 5],
  ['{a: 1}', 1],
  ['{"a": 1,}', 8],
  ['[1,]', 3],
  ['[1}', 2],
  ['{"a": 01}', 7],
  ['{"a": -}', 7],
  ['{"a": 1.}', 8],
  ['{"a": 1e+}', 9],
  ['{"a": tru}', 9],
  ['{"a": 1} {', 9],
  ['', 0],
  ['  ', 2],
  ['[]]', 2],
  ['{}{', 2],
])('%s fails at %i', (text, position) => {
  expect(() => JSON.parse(text) as unknown).toThrow();
  expect(jsonErrorPosition(text)).toBe(position);
});

test('agrees with the engine wherever that names a position', () => {
  fastCheck.assert(
    fastCheck.property(
      fastCheck.json({ maxDepth: 4 }),
      fastCheck.nat(),
      fastCheck.constantFrom('', '"', '\\', ',', '}', ']', '{', ':', '1', 'x', ' ', '\n', '-', '.'),
      fastCheck.nat({ max: 3 }),
      (json, seed, inserted, removed) => {
        const at = seed % (json.length + 1);
        const text = json.slice(0, at) + inserted + json.slice(at + removed);
        try {
          JSON.parse(text);
        } catch (error) {
          const position = jsonErrorPosition(text);
          const told = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(
            (error as Error).message,
          );
          if (told !== null) expect(position).toBe(Number(told[1]));
          // A text that only ended too early is refused at its end.
          if (String(error).includes('Unexpected end')) expect(position).toBe(text.length);
          expect(position).toBeLessThanOrEqual(text.length);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

function stateOf(...pieces: readonly string[]) {
  const reader = new JsonReader('object');
  for (const piece of pieces) reader.push(piece);
  return { state: reader.state, errorPosition: reader.errorPosition };
}

/** Where a text is divided, from random numbers. */
function divided(text: string, cuts: readonly number[]): readonly string[] {
  const ends = [...cuts.toSorted((left, right) => left - right), text.length];
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
}

const cutPlaces = fastCheck.array(fastCheck.nat(60), { maxLength: 12 });

test.each([
  ['', 'cut', null],
  [' ', 'cut', null],
  ['{', 'cut', null],
  ['{"a":tru', 'cut', null],
  ['{"a":-', 'cut', null],
  ['{"a":1.5e', 'cut', null],
  ['{"a":1', 'cut', null],
  ['{"a":"\\u00', 'cut', null],
  ['{"a":"\\', 'cut', null],
  ['{}', 'complete', null],
  ['{"a":[1,{"b":null}]} \n', 'complete', null],
  ['{"a":trux', 'malformed', 8],
  ['{"a":"\\u00g', 'malformed', 10],
  ["{'a'", 'malformed', 1],
  ['{"a":1,}', 'malformed', 7],
  ['{"a":[1}', 'malformed', 7],
  ['{} x', 'malformed', 3],
  ['null', 'malformed', 0],
  ['[', 'malformed', 0],
  ['7', 'malformed', 0],
] as const)('as an object %j is %s', (text, state, errorPosition) => {
  expect(stateOf(text)).toEqual({ state, errorPosition });
  expect(stateOf(...text)).toEqual({ state, errorPosition });
});

test('a value by itself may be whole where any will do', () => {
  for (const [text, state] of [
    ['7', 'complete'],
    ['-', 'cut'],
    ['1.', 'cut'],
    ['1e5', 'complete'],
    ['"a"', 'complete'],
    ['[]', 'complete'],
    ['nul', 'cut'],
  ] as const) {
    const reader = new JsonReader('any');
    reader.push(text);
    expect(reader.state, text).toBe(state);
  }
});

test('a value is as deep as the limit and no deeper', () => {
  const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const state = (text: string): string => {
    const reader = new JsonReader('any');
    reader.push(text);
    return reader.state;
  };
  expect(state(nested(MAX_JSON_DEPTH))).toBe('complete');
  expect(jsonErrorPosition(nested(100_000))).toBe(MAX_JSON_DEPTH);
  expect(state(`{"a":[${'[],'.repeat(1000)}1]}`)).toBe('complete');
});

test('any split of any text gives the same answer', () => {
  fastCheck.assert(
    fastCheck.property(
      fastCheck.json({ maxDepth: 3 }),
      fastCheck.nat(60),
      fastCheck.constantFrom('', '"', '\\', 'x', '{', '1'),
      cutPlaces,
      (json, at, inserted, cuts) => {
        const text = `{"a":${json.slice(0, at)}${inserted}${json.slice(at)}}`;
        expect(stateOf(...divided(text, cuts))).toEqual(stateOf(text));
      },
    ),
  );
});

function stringsOf(pieces: readonly string[]): string[] {
  const strings: string[] = [];
  const reader = new JsonReader('object', {
    wants: (key) => key === 'content',
    onStart: (key) => strings.push(`${key}:`),
    onText: (text) => {
      strings[strings.length - 1] += text;
    },
  });
  for (const piece of pieces) reader.push(piece);
  return strings;
}

test('strings under a key are found at any depth, and nothing else is', () => {
  const value = {
    path: 'content',
    content: 'a "quoted"\n\\line 🎉\t\r\b\f/',
    deep: [{ content: 'b', other: { content: ['c', 7, ''] } }, 'content'],
    'content ': 'no',
    [`content${'x'.repeat(300)}`]: 'no',
  };
  expect(stringsOf([JSON.stringify(value)])).toEqual([
    'content:a "quoted"\n\\line 🎉\t\r\b\f/',
    'content:b',
    'content:c',
    'content:',
  ]);
  expect(stringsOf(['{"content":"\\u00fC\\/"}'])).toEqual(['content:ü/']);
});

test('strings of a text that ends early, or stops being JSON, are given as far as they came', () => {
  expect(stringsOf(['{"content":"half a li'])).toEqual(['content:half a li']);
  expect(stringsOf(['{"content":"half\\'])).toEqual(['content:half']);
  expect(stringsOf(['"content":"no object"'])).toEqual([]);
  expect(stringsOf(['{"content":7,"content":"x"'])).toEqual(['content:x']);
  expect(stringsOf(['{"content":"a = "b", "content":"c"}'])).toEqual(['content:a = ']);
});

test('R258: any split gives the same strings', () => {
  const json = fastCheck.record({
    content: fastCheck.string({ unit: 'grapheme' }),
    more: fastCheck.jsonValue(),
  });
  fastCheck.assert(
    fastCheck.property(json, cutPlaces, (value, cuts) => {
      const text = JSON.stringify(value, null, 1).replaceAll('é', '\\u00e9');
      expect(stringsOf(divided(text, cuts))).toEqual(stringsOf([text]));
      expect(stringsOf([text])[0]).toBe(`content:${value.content}`);
    }),
  );
});

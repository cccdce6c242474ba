import fc from 'fast-check';
import { expect, test } from 'vitest';

import { findHiddenCharacters } from './hidden-characters.ts';

/** Hazard: a program that does something else than it shows is written, and nobody is told (B16). */

async function hidden(text: string, target = 'a.ts', cuts: readonly number[] = []) {
  const bytes = Buffer.from(text);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].toSorted(
    (one, other) => one - other,
  );
  return findHiddenCharacters(async function* source() {
    for (let index = 1; index < places.length; index += 1) {
      yield bytes.subarray(places[index - 1], places[index]);
    }
  }, target);
}

test.for<[string, string, readonly [line: number, codePoint: string][]]>([
  ['nothing', 'const a = 1;\n// naïve – “quoted” … 漢字 עברית\n', []],
  [
    'text that runs the other way',
    "a = 1;\nif (level != 'user\u202e \u2066// Check if admin\u2069 \u2066') {\n",
    [
      [2, 'U+202E'],
      [2, 'U+2066'],
      [2, 'U+2069'],
      [2, 'U+2066'],
    ],
  ],
  ['a blank without width in a name', 'let user\u200bName;\n', [[1, 'U+200B']]],
  [
    'what is drawn as nothing, by its property',
    "a\u00ad\u2065\u{1bca0}\u{1d173}\u180f\u3164 = '\u2800'\n",
    ['U+00AD', 'U+2065', 'U+1BCA0', 'U+1D173', 'U+180F', 'U+3164', 'U+2800'].map((point) => [
      1,
      point,
    ]),
  ],
  ['a joiner in a name', 'let is\u200dAdmin;\n', [[1, 'U+200D']]],
  ['a mark of the order of bytes inside', '\ufeffa\n\ufeffb', [[2, 'U+FEFF']]],
  [
    'text in tag characters',
    '// ok\u{e0068}\u{e0069}\n',
    [
      [1, 'U+E0068'],
      [1, 'U+E0069'],
    ],
  ],
  [
    'a run of variation selectors',
    "'a\ufe0f\ufe0e\u{e0101}'\n",
    [
      [1, 'U+FE0E'],
      [1, 'U+E0101'],
    ],
  ],
  ['emoji and flags', "'👩‍👩‍👧 ⚠️ 👍🏽 🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}'\n", []],
  ['tags behind a flag that has ended', '🏴\u{e0067} \u{e0067}\n', [[1, 'U+E0067']]],
  [
    'a message behind a flag',
    `🏴${'\u{e0061}'.repeat(9)}\n`,
    [
      [1, 'U+E0061'],
      [1, 'U+E0061'],
    ],
  ],
  ['joiners of other scripts', "'می\u200cخواهم क्\u200dष'\n", []],
])('in code: %s', async ([, text, expected]) => {
  const { count, places } = await hidden(text);
  expect(places.map(({ line, code_point }) => [line, code_point])).toEqual(expected);
  expect(count).toBe(expected.length);
});

test('in other text only what carries a message is told', async () => {
  const text = 'שלום \u200fעולם\u202c \u200b\u{e0041}\n';
  for (const target of ['a.md', 'a.txt']) {
    expect(await hidden(text, target)).toEqual({
      count: 1,
      places: [{ line: 1, code_point: 'U+E0041' }],
    });
  }
});

test('a flood is counted, and named no further than the twentieth', async () => {
  const { count, places } = await hidden('\u202e\n'.repeat(500));
  expect(count).toBe(500);
  expect(places.at(-1)).toEqual({ line: 20, code_point: 'U+202E' });
});

test('the answer does not depend on how the bytes come divided', async () => {
  const characters = fc.constantFrom(
    ...'a\né漢👩🏴\u200d\u200b\u202e\ufeff\ufe0f\u{e0067}\u{e007f}\u{e0101}\u061c\u2066',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(characters, { maxLength: 30 }).map((list) => list.join('')),
      fc.array(fc.nat(200), { maxLength: 12 }),
      fc.constantFrom('a.ts', 'a.md', 'a.txt'),
      async (text, cuts, target) => {
        expect(await hidden(text, target, cuts)).toEqual(await hidden(text, target));
      },
    ),
  );
});

import { expect, test } from 'vitest';

import { instrument, REACHED } from './instrument.ts';
import { mutantsOf, mutated } from './mutants.ts';
import { canBeParsed } from './syntax.ts';

const linesOf = (source: string): string[] =>
  mutantsOf('a.ts', source).mutants.map(({ kind, to }) => `${kind}: ${to}`);

test.each([
  ['const a = b < c;', ['comparison: const a = b <= c;', 'comparison: const a = b >= c;']],
  ['const a = b === c;', ['comparison: const a = b !== c;']],
  ['const a = b && c;', ['logic: const a = b || c;']],
  ['const a = b ?? c;', ['fallback: const a = b;', 'fallback: const a = c;']],
  ['const a = b + c;', ['arithmetic: const a = b - c;']],
  // Text has nothing but +.
  ["const a = b + c + 'd';", ["arithmetic: const a = b - c + 'd';", "text: const a = b + c + '';"]],
  ['a += b;', ['statement: ;', 'arithmetic: a -= b;']],
  ['a++;', ['arithmetic: a--;', 'statement: ;']],
  ['const a = -b;', ['arithmetic: const a = b;']],
  ['const a = !b;', ['condition: const a = b;']],
  ['const a = b ? c : d;', ['condition: const a = !(b) ? c : d;']],
  ['while (a) b();', ['condition: while (!(a)) b();', 'statement: while (a) ;']],
  [
    'for (;;) { if (a) break; }',
    ['guard: for (;;) { ; }', 'condition: for (;;) { if (!(a)) break; }'],
  ],
  // The comparison says the same as its negation.
  ['if (a === b) c();', ['comparison: if (a !== b) c();', 'statement: if (a === b) ;']],
  ['const a = async () => await b;', ['await: const a = async () => b;']],
  [
    'function a() { b; return c; }',
    ['return: function a() { return; b; return c; }', 'statement: function a() { ; return c; }'],
  ],
  ['const a = [b, ...c];', ['entry: const a = [...c];', 'entry: const a = [b];']],
  ['const a = { b, c: d, };', ['entry: const a = { c: d, };', 'entry: const a = { b };']],
  ['const a = true;', ['boolean: const a = false;']],
  [
    'const a = [0, 1];',
    [
      'number: const a = [1, 1];',
      'entry: const a = [1];',
      'entry: const a = [0];',
      'number: const a = [0, 0];',
    ],
  ],
  ["const a = '';", ["text: const a = 'changed';"]],
  ['const a = `b${c}`;', ["text: const a = '';"]],
  ['const a = /^b$/u;', ['text: const a = /b$/u;', 'text: const a = /^b/u;']],
  [
    'switch (a) { case b: c(); default: a satisfies never; }',
    ['statement: switch (a) { case b: ; default: a satisfies never; }'],
  ],
  // A price at the end of a pattern is no anchor.
  ['const a = /b\\$/;', []],
])('%s', (source, expected) => {
  expect(linesOf(source)).toEqual(expected);
});

test.each([
  "import { a } from 'b';",
  "export * from 'b';",
  "export { a } from 'b';",
  "type A = { readonly b: 'c' | 1 };",
  "interface A { b: 'c' }",
  "function a(b: 'c'): asserts b is 'c' {}",
  "const a = import('b');",
  // What a bug in our own code would say.
  "const a = new Error(`b ${c}` + 'd');",
])('nothing can be changed in %s', (source) => {
  expect(linesOf(source)).toEqual([]);
});

test('what a type is written around is code', () => {
  expect(linesOf('const a = (b as C<1>) < (d satisfies 2);')).toHaveLength(2);
});

test('ids stay when lines come in above, and differ for the same line', () => {
  const source = 'a = b < c;\na = b < c;\n';
  const ids = (text: string): string[] => mutantsOf('a.ts', text).mutants.map(({ id }) => id);
  expect(new Set(ids(source)).size).toBe(ids(source).length);
  expect(ids(`// more\n\n${source}`)).toEqual(ids(source));
});

test('a changed file that is not a program is recognised', () => {
  const source = 'const a = (() => b) && c;';
  const texts = mutantsOf('a.ts', source).mutants.map((mutant) => mutated(source, mutant));
  expect(texts.map((text) => canBeParsed('a.ts', text))).toEqual([true]);
  expect(canBeParsed('a.ts', 'const a = b ?? c || d;')).toBe(false);
});

test('an instrumented file says what is reached, line by line as before', () => {
  const source = [
    '',
    'const double = (value) => value * 2;',
    'function pick(value) {',
    '  if (value > 5) return double(value);',
    '  else if (value > 3) return { value };',
    '  for (const each of [1]) value += each;',
    '  return value;',
    '}',
    'return pick(INPUT);',
  ].join('\n');
  // A function's body, so that it can be called.
  const wrapped = `function run(INPUT) {${source}\n}`;
  const { mutants, probes } = mutantsOf('a.ts', wrapped);
  const text = instrument('a.ts', wrapped, probes);
  expect(text.split('\n')).toHaveLength(wrapped.split('\n').length);
  const reachedWith = (input: number): number[] => {
    const reached = new Set<string>();
    Object.assign(globalThis, { [REACHED]: reached });
    try {
      // oxlint-disable-next-line typescript/no-implied-eval -- what was made is what is tested
      new Function(`${text}; return run(${input});`)();
    } finally {
      Reflect.deleteProperty(globalThis, REACHED);
    }
    const hit = mutants.filter(({ probe }) => reached.has(`a.ts#${probe}`));
    return [...new Set(hit.map(({ line }) => line))];
  };
  expect(reachedWith(9)).toEqual([1, 2, 3, 4]);
  expect(reachedWith(4)).toEqual([1, 3, 4, 5]);
  expect(reachedWith(1)).toEqual([1, 3, 4, 5, 6]);
});

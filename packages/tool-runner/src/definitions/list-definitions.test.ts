/** What each language calls a definition. */
import { beforeAll, expect, it } from 'vitest';

import { SAMPLES } from '../testing/source-samples.ts';
import { openGrammars } from './grammars.ts';
import type { Grammars } from './grammars.ts';
import { LANGUAGES, languageOf } from './languages.ts';

let grammars: Grammars;
beforeAll(async () => {
  grammars = await openGrammars();
  for (const { id } of LANGUAGES) await grammars.load(id);
});

it.each(SAMPLES)('%s', (path, source, listed) => {
  const lines = listed.slice(1, -1).split('\n');
  const language = languageOf(path)?.id ?? 'go';
  const found = { lines, more: 0, hasErrors: false };
  expect(grammars.parse(language, source)).toEqual(found);
});

it.each([
  [
    'a.ts',
    '}} export class A {}\nfunction b() {}',
    ['1 class: export class A', '2 function: function b()'],
  ],
  ['b.py', 'def (:\ndef b(): pass\n', ['2 function: def b()']],
  ['c.go', '}\nfunc c() {}\n', ['2 function: func c()']],
  ['d.rs', 'fn d() {}\nimpl {', ['1 function: fn d()']],
  ['E.java', 'class E { void e() {}', ['1 class: class E', '  1 method: void e()']],
])('lists what can be told of broken %s', (path, source, lines) => {
  const found = { lines, more: 0, hasErrors: true };
  expect(grammars.parse(languageOf(path)?.id ?? 'go', source)).toEqual(found);
});

it('has a sample of every language', () => {
  const languages = SAMPLES.map(([path]) => languageOf(path));
  expect(new Set(languages)).toEqual(new Set(LANGUAGES));
});

it.each([
  ['a.PY', 'Python'],
  ['b.d.ts', 'TypeScript'],
  ['c/.ts', 'TypeScript'],
  ['d.cs', undefined],
  ['ts', undefined],
  ['e.ts/f', undefined],
  ['g.constructor', undefined],
  ['h.__proto__', undefined],
  ['i.ts\n', undefined],
])('%j is a file of %s', (path, name) => {
  expect(languageOf(path)?.name).toBe(name);
});

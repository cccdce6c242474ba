/** Trees that are deep, long or broken: the walk takes steps in proportion, and lists lines of the source. */
import fc from 'fast-check';
import { beforeAll, expect, it, vi } from 'vitest';
import { TreeCursor } from 'web-tree-sitter';

import { SAMPLES } from '../testing/source-samples.ts';
import { openGrammars } from './grammars.ts';
import type { Grammars } from './grammars.ts';
import { LANGUAGES, languageOf } from './languages.ts';
import { MAX_DEPTH, MAX_LISTED, MAX_SIGNATURE } from './list-definitions.ts';
import type { FileDefinitions } from './list-definitions.ts';

vi.setConfig({ testTimeout: 60_000 });

let grammars: Grammars;
beforeAll(async () => {
  grammars = await openGrammars();
  for (const { id } of LANGUAGES) await grammars.load(id);
});

function parsed(path: string, source: string): FileDefinitions {
  const language = languageOf(path);
  if (language === undefined) throw new Error(`${path} has no language`);
  return grammars.parse(language.id, source);
}

const GROWING: readonly (readonly [path: string, source: (count: number) => string])[] = [
  ...SAMPLES.map(([path, source]) => [path, (count: number) => source.repeat(count)] as const),
  ['nested.ts', (count) => `${'namespace a { '.repeat(count)}${'}'.repeat(count)}`],
  ['nested.rs', (count) => `${'mod a { '.repeat(count)}${'}'.repeat(count)}`],
  ['decorated.ts', (count) => `${'@a '.repeat(count)}export class A {}`],
  ['decorated.py', (count) => `${'@a\n'.repeat(count)}class A: pass`],
  [
    'annotated.java',
    (count) => `${'@A '.repeat(count)}class A { ${'@B '.repeat(count)}void m() {} }`,
  ],
  ['names.js', (count) => `var ${'f = () => {}, '.repeat(count)}g;`],
  ['broken.go', (count) => '}func f() {}\n'.repeat(count)],
  ['chained.js', (count) => `${'a = '.repeat(count)}() => {};`],
];

it.each(GROWING)('takes steps in proportion to its source: %s', (path, source) => {
  const steps = (count: number): number => {
    const spies = (['gotoFirstChild', 'gotoNextSibling', 'gotoParent'] as const).map((name) =>
      vi.spyOn(TreeCursor.prototype, name),
    );
    parsed(path, source(count));
    return spies.reduce((sum, spy) => {
      const { length } = spy.mock.calls;
      spy.mockRestore();
      return sum + length;
    }, 0);
  };
  const [once, twice, often] = [steps(20), steps(40), steps(160)];
  expect(twice).toBeLessThanOrEqual(2.2 * once);
  expect(often).toBeLessThanOrEqual(8.8 * once);
});

it('lists as many definitions as it may, and counts the rest', () => {
  const classes = 'class A { a() {} }\n'.repeat(MAX_LISTED / 2);
  const [full, over] = [parsed('a.js', classes), parsed('a.js', `${classes}class B { b() {} }`)];
  expect([full.lines.length, full.more]).toEqual([MAX_LISTED, 0]);
  expect([over.lines.length, over.more]).toEqual([MAX_LISTED, 2]);
});

it('lists as many levels as it may, and counts what is deeper', () => {
  const deep = parsed('a.py', nested(MAX_DEPTH + 1));
  expect([deep.lines.length, deep.more]).toEqual([MAX_DEPTH + 1, 0]);
  expect(deep.lines.at(-1)).toBe(
    `${'  '.repeat(MAX_DEPTH)}${MAX_DEPTH + 1}-${MAX_DEPTH + 2} class: class C${MAX_DEPTH}`,
  );
  const deeper = parsed('a.py', `${nested(MAX_DEPTH + 3)}class Last: pass\n`);
  expect([deeper.lines.length, deeper.more]).toEqual([MAX_DEPTH + 2, 2]);
});

function nested(count: number): string {
  const lines = Array.from(
    { length: count },
    (_, depth) => `${' '.repeat(depth)}class C${depth}:\n`,
  );
  return `${lines.join('')}${' '.repeat(count)}pass\n`;
}

it('cuts a signature that is longer than it may be', () => {
  const of = (name: string): string => parsed('a.py', `def ${name}(): pass\n`).lines[0] ?? '';
  const longest = 'x'.repeat(MAX_SIGNATURE - 'def ()'.length);
  expect(of(longest)).toBe(`1 function: def ${longest}()`);
  expect(of(`${longest}y`)).toBe(`1 function: def ${longest}y(…`);
  // The limit lies between the halves of a character.
  const halved = `def ${longest.slice(`a="`.length)}(a="`;
  const wide = parsed('a.py', `${halved}\u{1f600}"): pass\n`).lines[0];
  expect(wide).toBe(`1 function: ${halved}\ufffd…`);
});

it.each(LANGUAGES)('reads whatever is left of a source in $name', ({ id }) => {
  const [path = '', source = ''] = SAMPLES.find(([each]) => languageOf(each)?.id === id) ?? [];
  const pieces = fc.array(
    fc.oneof(
      fc.nat({ max: source.length }).map((at) => source.slice(at, at + 20)),
      fc
        .array(fc.nat({ max: 0xffff }), { maxLength: 5 })
        .map((codes) => String.fromCharCode(...codes)),
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(pieces, (cut) => {
      const text = cut.join('');
      const rows = text.split('\n').length;
      for (const line of parsed(path, text).lines) {
        const [, first = '', last = first] = /^ *(\d+)(?:-(\d+))? [a-z]+: /.exec(line) ?? [];
        expect([1 <= Number(first), Number(first) <= Number(last), Number(last) <= rows]).toEqual([
          true,
          true,
          true,
        ]);
        expect(line.isWellFormed()).toBe(true);
        expect(line).not.toContain('\n');
      }
    }),
    { numRuns: 60 },
  );
});

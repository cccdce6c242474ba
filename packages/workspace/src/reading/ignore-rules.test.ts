/** Hazard: ignore files are read in another way than git reads them, or cost a turn its time. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { judgePath, readIgnoreRules } from './ignore-rules.ts';
import type { IgnoreRules } from './ignore-rules.ts';

const FOLDERS: readonly string[] = ['a', 'b', 'ab', 'a/b', 'a/b/a', 'b/a', 'b/ab', 'foo', 'a/foo'];
const NAMES: readonly string[] = [
  'a.c',
  'b',
  'ab.c',
  'c d',
  '-',
  '!x',
  '#x',
  ']',
  '[a]',
  'é',
  'B',
  '\\',
];

const FILES: readonly string[] = ['', ...FOLDERS.map((folder) => `${folder}/`)].flatMap((folder) =>
  NAMES.filter((name) => !FOLDERS.includes(`${folder}${name}`)).map((name) => `${folder}${name}`),
);

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

/** What is ignored, as git goes down the tree: nothing below an ignored folder is looked at. */
function ignoredByUs(files: Readonly<Record<string, string>>): readonly string[] {
  const rulesOf = (folder: string): IgnoreRules => {
    const text = files[`${folder}.gitignore`];
    if (text === undefined) return [];
    const read = readIgnoreRules(bytesOf(text));
    if (read.kind === 'refused') throw new Error(read.reason);
    return read.rules;
  };
  const isIgnored = (path: string, isFolder: boolean): boolean => {
    const names = path.split('/');
    for (let length = names.length - 1; length >= 0; length -= 1) {
      const folder = names
        .slice(0, length)
        .map((name) => `${name}/`)
        .join('');
      const below = bytesOf(path.slice(folder.length));
      const verdict = judgePath(rulesOf(folder), { path: below, isFolder }, { left: 1e9 });
      if (verdict !== null) return verdict === 'ignored';
    }
    return false;
  };
  const ignored = new Set<string>();
  const all = [
    ...FOLDERS.map((path) => [path, true] as const),
    ...FILES.map((path) => [path, false] as const),
  ];
  for (const [path, isFolder] of all.toSorted(([one], [other]) => one.length - other.length)) {
    const parent = dirname(path);
    if (ignored.has(parent) || isIgnored(path, isFolder)) ignored.add(path);
  }
  return [...ignored].toSorted();
}

let root: string;

function ignoredByGit(files: Readonly<Record<string, string>>): readonly string[] {
  for (const folder of ['', ...FOLDERS.map((each) => `${each}/`)]) {
    writeFileSync(join(root, `${folder}.gitignore`), files[`${folder}.gitignore`] ?? '');
  }
  try {
    const output = execFileSync('git', ['check-ignore', '--stdin', '-z', '--no-index'], {
      cwd: root,
      input: [...FOLDERS, ...FILES].join('\0'),
      stdio: 'pipe',
      env: { PATH: process.env['PATH'] ?? '', HOME: root, LC_ALL: 'C' },
    });
    return output
      .toString()
      .split('\0')
      .filter((path) => path !== '')
      .toSorted();
  } catch (error) {
    if ((error as { readonly status?: number }).status === 1) return [];
    throw error;
  }
}

const piece = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b', 'ab', 'foo', '.c', 'c d', 'é', 'B') },
  { weight: 4, arbitrary: fc.constantFrom('/', '*', '**', '/**', '**/', '?') },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '[ab]',
      '[!a]',
      '[^b]',
      '[a-c]',
      '[]]',
      '[]-]',
      '[[:alpha:]]',
      '[[:punct:]]',
      '[[:nope:]]',
      '[[:a]',
      '[a',
      '[',
      ']',
      '[\\]]',
      '[é]',
      '[b-a]',
      '[!]a]',
      '[--0]',
      '[a\\-c]',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom('\\', '\\\\', '\\*', ' ', '\\ ', '!', '#', '-', '\t', '\r', '.'),
  },
);
const line = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
const rules = fc
  .array(fc.tuple(fc.constantFrom('', '', '', '!', '/'), line), { minLength: 1, maxLength: 5 })
  .map((lines) => lines.map(([before, each]) => `${before}${each}\n`).join(''));

describe('the same as git check-ignore', () => {
  beforeAll(async () => {
    const { realpath, mkdtemp, rm } = await import('node:fs/promises');
    const { tmpdir } = await import('node:os');
    root = await realpath(await mkdtemp(join(tmpdir(), 'orion-ignore-')));
    execFileSync('git', ['init', '--quiet'], { cwd: root, stdio: 'pipe' });
    for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
    for (const file of FILES) writeFileSync(join(root, file), '');
    return () => rm(root, { recursive: true, force: true });
  });

  it.each([
    ['a name', 'b\n'],
    ['a folder', 'a/\n'],
    ['anchored', '/b\n/a.c\n'],
    ['and taken back', '*\n!*.c\n!*/\n'],
    ['the last one decides', '*.c\n!a.c\na.c\n!ab.c\n'],
    ['stars between slashes', 'a/**/a.c\n**/ab.c\nfoo/**\n'],
    ['stars that are none of folders', 'f**/a.c\na**c\n'],
    ['a literal before stars', 'a/f**/b\nfoo**/b\n'],
    ['bytes, not characters', '?\n'],
    ['two bytes', '??\n'],
    ['blanks', 'c d   \nb \\ \n'],
    ['escapes', '\\!x\n\\#x\n\\\\\n\\[a\\]\n'],
    ['comments and odd lines', '#x\n\n/\n//\n!\n!/\n \n\\\n'],
    ['CRLF', 'b\r\na.c\r\n\r\n'],
    ['without a last line feed', 'a.c'],
    ['a byte order mark', '\ufeffb\n'],
    ['a NUL', 'b\0x\n'],
    ['another case', 'A.C\n'],
  ])('%s', (_name, text) => {
    expect(ignoredByUs({ '.gitignore': text })).toEqual(ignoredByGit({ '.gitignore': text }));
  });

  it('random patterns, in nested files', { tags: ['long'], timeout: 60_000 }, () => {
    fc.assert(
      fc.property(rules, rules, rules, (top, below, deep) => {
        const files = { '.gitignore': top, 'a/.gitignore': below, 'a/b/.gitignore': deep };
        expect(ignoredByUs(files)).toEqual(ignoredByGit(files));
      }),
      { numRuns: 150 },
    );
  });
});

describe('bounds', () => {
  it.each([
    ['lines', 'a\n'.repeat(10_000), 'it has more than 10000 lines'],
    ['one line', 'a'.repeat(4097), 'it has a line of more than 4096 bytes'],
  ])('of %s', (_name, text, reason) => {
    expect(readIgnoreRules(text)).toEqual({ kind: 'refused', reason });
    expect(readIgnoreRules(text.slice(2)).kind).toBe('rules');
  });

  it('matching costs no more than it may, and twice the path costs twice', () => {
    const read = readIgnoreRules(`${'a/**/'.repeat(12)}x\n`);
    if (read.kind === 'refused') throw new Error(read.reason);
    const costOf = (folders: number): number => {
      const budget = { left: 1e9 };
      const path = `${'a/'.repeat(folders)}file`;
      expect(judgePath(read.rules, { path, isFolder: false }, budget)).toBeNull();
      return 1e9 - budget.left;
    };
    expect(costOf(120) / costOf(60)).toBeLessThan(2.3);
    expect(costOf(60)).toBeLessThan(10_000);
    const budget = { left: 100 };
    judgePath(read.rules, { path: 'a/'.repeat(60), isFolder: true }, budget);
    expect(budget.left).toBeLessThan(0);
  });
});

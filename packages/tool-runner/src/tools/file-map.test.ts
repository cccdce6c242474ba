import { expect, it } from 'vitest';
import { fileMap } from './file-map.ts';

const WIDE = { maxLines: 100, maxBytes: 10_000 };

it('shows every file where all fit', () => {
  const files = ['a', 'b/c', 'b/d/e', 'f'];
  expect(fileMap(files, { maxLines: 4, maxBytes: 17 - 2 })).toEqual({
    lines: files,
    hasFolders: false,
    leftOut: 0,
  });
  expect(fileMap([], WIDE)).toEqual({ lines: [], hasFolders: false, leftOut: 0 });
});

it.each([
  [7, ['a/b/1', 'a/b/2', 'a/c/1', 'a/c/2', 'a/c/3', 'd/1', 'd/2']],
  [6, ['a/b/1', 'a/b/2', 'a/c/ (3 files)', 'd/1', 'd/2']],
  [4, ['a/b/ (2 files)', 'a/c/ (3 files)', 'd/1', 'd/2']],
  [3, ['a/ (5 files)', 'd/1', 'd/2']],
  [2, ['a/ (5 files)', 'd/ (2 files)']],
])(
  'at most %i lines: the deepest folders are folded first, the largest of them before others',
  (maxLines, lines) => {
    const files = ['a/b/1', 'a/b/2', 'a/c/1', 'a/c/2', 'a/c/3', 'd/1', 'd/2'];
    expect(fileMap(files, { ...WIDE, maxLines })).toEqual({
      lines,
      hasFolders: maxLines < 7,
      leftOut: 0,
    });
  },
);

it('counts bytes of names as they are shown', () => {
  const files = ['d/é', 'd/éé'];
  const quoted = (path: string) => `"${path}"`;
  expect(fileMap(files, { ...WIDE, maxBytes: 7 + 9 }, quoted).lines).toEqual(['"d/é"', '"d/éé"']);
  expect(fileMap(files, { ...WIDE, maxBytes: 15 }, quoted).lines).toEqual(['"d/" (2 files)']);
});

it('says how many files of a flat folder do not fit', () => {
  const files = Array.from({ length: 12 }, (_, index) => `f${index}`);
  expect(fileMap(files, { ...WIDE, maxLines: 10 })).toMatchObject({
    lines: files.slice(0, 10),
    leftOut: 2,
  });
  expect(fileMap(['d/a', 'd/b', ...files], { ...WIDE, maxBytes: 15 })).toMatchObject({
    lines: ['d/ (2 files)'],
    leftOut: 12,
  });
});

it('leaves a folder of one file as it is', () => {
  expect(fileMap(['a/b/c', 'd/1', 'd/2', 'e'], { ...WIDE, maxLines: 3 }).lines).toEqual([
    'a/b/c',
    'd/ (2 files)',
    'e',
  ]);
  expect(fileMap(['a/b/c', 'a/d', 'e'], { ...WIDE, maxLines: 2 }).lines).toEqual([
    'a/ (2 files)',
    'e',
  ]);
});

it('folds no more than what does not fit in bytes', () => {
  const long = (folder: string): string[] =>
    ['1', '2', '3'].map((name) => `${folder}/${name.repeat(20)}`);
  const files = [...long('a'), ...long('b'), ...long('c')];
  const bytes = (lines: readonly string[]): number => lines.join('\n').length + 1;
  const folded = (folder: string): string => `${folder}/ (3 files)`;
  const two = [folded('a'), folded('b'), ...long('c')];
  expect(fileMap(files, { ...WIDE, maxBytes: bytes(two) }).lines).toEqual(two);
  const all = ['a', 'b', 'c'].map(folded);
  expect(fileMap(files, { ...WIDE, maxBytes: bytes(two) - 1 }).lines).toEqual(all);
});

it('takes time in proportion to the files', () => {
  const files = Array.from(
    { length: 100_000 },
    (_, index) => `d${index % 1000}/e${index % 100}/f${index}`,
  );
  const started = performance.now();
  const { lines, leftOut } = fileMap(files.toSorted(), { maxLines: 200, maxBytes: 8192 });
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(lines).toHaveLength(200);
  expect(leftOut).toBe(80_000);
});

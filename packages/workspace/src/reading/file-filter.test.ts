import { describe, expect, it } from 'vitest';
import { fileFilter } from './file-filter.ts';

const FILES = [
  '#a.ts',
  'a.test.ts',
  'a.ts',
  'b.js',
  'dist/a.ts',
  'src/a.ts',
  'src/deep/a.tsx',
  'src/deep/é.ts',
];

describe('globs', () => {
  it.each<[readonly string[], readonly string[]]>([
    [[], FILES],
    [['*.js'], ['b.js']],
    [['./*.js'], ['b.js']],
    [['/*.ts'], ['#a.ts', 'a.test.ts', 'a.ts']],
    [['src/*.ts'], ['src/a.ts']],
    [['src/**/*.{ts,tsx}'], ['src/a.ts', 'src/deep/a.tsx', 'src/deep/é.ts']],
    [['{src,dist}/{a,b}.ts'], ['dist/a.ts', 'src/a.ts']],
    [['src/'], ['src/a.ts', 'src/deep/a.tsx', 'src/deep/é.ts']],
    [
      ['*.ts', '!*.test.ts', '!src', '!dist/'],
      ['#a.ts', 'a.ts'],
    ],
    [['!*.ts'], ['b.js', 'src/deep/a.tsx']],
    [['!src/deep', '*.tsx'], []],
    [['!*.ts', 'src/a.ts'], ['src/a.ts']],
    [['#a.ts'], ['#a.ts']],
    [['é.ts'], ['src/deep/é.ts']],
    [['{a}.ts'], []],
  ])('%j', (globs, files) => {
    expect(FILES.filter(fileFilter(globs))).toEqual(files);
  });

  it.each<[string, readonly string[], RegExp]>([
    ['too many', Array.from({ length: 21 }, () => '*'), /more than 20/u],
    ['one that is too long', ['x'.repeat(501)], /500 characters/u],
    ['an empty one', [' '], /empty/u],
    ['a line break', ['a\nb'], /control character/u],
    ['too many alternatives', ['{a,b}'.repeat(8)], /more than 200/u],
  ])('refuses %s', (_name, globs, message) => {
    expect(() => fileFilter(globs)).toThrow(
      expect.objectContaining({
        code: 'INVALID_TOOL_ARGUMENTS',
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
    expect(fileFilter(globs.length > 1 ? globs.slice(1) : ['x'.repeat(500)])('a')).toBe(
      globs.length > 1,
    );
  });

  it('ends when matching takes too long', () => {
    const isWanted = fileFilter(Array.from({ length: 20 }, () => `${'*a'.repeat(200)}b`));
    const path = 'a'.repeat(200);
    expect(() => {
      for (let count = 0; count < 100; count += 1) isWanted(path);
    }).toThrow('take too long');
  });
});

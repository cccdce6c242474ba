import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findMentions, mentionAt, mentionOf } from './mentions.ts';

describe('names of paths in a prompt', () => {
  it.each<[string, string[][]]>([
    ['@a', [['a']]],
    ['see @src/cli.ts and @b', [['src/cli.ts'], ['b']]],
    ['see @src/cli.ts, please', [['src/cli.ts,', 'src/cli.ts']]],
    ['(@src/cli.ts).', [['src/cli.ts).', 'src/cli.ts']]],
    ['`@a.b`', [['a.b`', 'a.b']]],
    ['"@a"', [['a"', 'a']]],
    ['a\n@b\tc', [['b']]],
    ['@"two words.md" and @"c"', [['two words.md'], ['c']]],
    ['@"a \\"b\\" \\\\ c"', [['a "b" \\ c']]],
    ['@"open', []],
    ['@"not\nclosed"', []],
    ['@""', []],
    ['@', []],
    ['@ a', []],
    ['me@example.com, x@y', []],
    ['a,@b', []],
    ['@@scope/name', [['@scope/name']]],
    ['@...', [['...']]],
    ['@src/', [['src/']]],
  ])('%j has %j', (text, paths) => {
    expect(findMentions(text).map((mention) => mention.paths)).toEqual(paths);
  });

  it('are found as they are written, whatever the path', () => {
    const path = fc.string({
      minLength: 1,
      unit: fc.constantFrom(
        'a',
        ' ',
        '"',
        '\\',
        '.',
        '@',
        ')',
        '/',
        'é',
        '\u{1F600}',
        "'",
        'u',
        'n',
        '\n',
        '\u001B',
        '\u202E',
        '\u200D',
      ),
    });
    fc.assert(
      fc.property(path, fc.constantFrom('', 'see ', '('), (name, before) => {
        const text = `${before}${mentionOf(name)} here`;
        expect(findMentions(text)[0]?.paths[0]).toBe(name);
        const written = mentionOf(name);
        const typed = `${before}${written.startsWith('@"') ? written.slice(0, -1) : written}`;
        expect(mentionAt(`${typed} later`, typed.length)).toEqual({
          from: before.length,
          query: name,
        });
      }),
    );
  });

  it('are quoted only where they have to be', () => {
    expect(mentionOf('src/cli.ts')).toBe('@src/cli.ts');
    expect(mentionOf('src/')).toBe('@src/');
    expect(mentionOf('a b')).toBe('@"a b"');
    expect(mentionOf('a.')).toBe('@"a."');
  });

  it('show what is not seen', () => {
    expect(mentionOf('a\u202Eb\nc')).toBe('@"a\\u202eb\\nc"');
    expect(findMentions('@"no \\d \\u12"')).toEqual([{ paths: ['no d u12'] }]);
  });
});

describe('the name at the caret', () => {
  it.each<[string, { from: number; query: string } | null]>([
    ['see @sr|c', { from: 4, query: 'sr' }],
    ['@|', { from: 0, query: '' }],
    ['x @"two w|', { from: 2, query: 'two w' }],
    ['x @"|', { from: 2, query: '' }],
    ['@src |', null],
    ['me@ex|', null],
    ['no|', null],
    ['@"closed"|', null],
    ['@a @b|', { from: 3, query: 'b' }],
  ])('of %j is %j', (marked, found) => {
    const caret = marked.indexOf('|');
    expect(mentionAt(marked.replace('|', ''), caret)).toEqual(found);
  });

  it('is looked for in the last characters alone', () => {
    const draft = `${'@a '.repeat(100_000)}@src`;
    expect(mentionAt(draft, draft.length)).toEqual({ from: 300_000, query: 'src' });
  });
});

it('a long text takes time in proportion', () => {
  const time = (text: string): number => {
    const before = process.cpuUsage();
    findMentions(text);
    return process.cpuUsage(before).user / 1000;
  };
  for (const part of ['@"', '@"\\', '@a.', '@', '"@']) {
    time(part.repeat(25_000));
    // Quadratic, it would take 64 times as long.
    const short = Math.max(10, time(part.repeat(25_000)));
    expect(time(part.repeat(200_000)), part).toBeLessThan(30 * short);
  }
});

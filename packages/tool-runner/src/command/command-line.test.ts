import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { readCommandLine } from './command-line.ts';

it.each<[string, string[][]]>([
  ['npm test', [['npm', 'test']]],
  ['  npm\ttest  ', [['npm', 'test']]],
  [`git commit -m 'a "b"' "c 'd'"`, [['git', 'commit', '-m', 'a "b"', "c 'd'"]]],
  [`a''b"c"'d'`, [['abcd']]],
  [`a ''`, [['a', '']]],
  ['a; b', [['a'], ['b']]],
  ['a;', [['a']]],
  ['a && b || c | d', [['a'], ['b'], ['c'], ['d']]],
  ['a &&\n\n b', [['a'], ['b']]],
  ['\n\na\nb\n', [['a'], ['b']]],
  [`a && "b"\n`, [['a'], ['b']]],
  [`'if' x`, [['if', 'x']]],
  ['a b=c', [['a', 'b=c']]],
  ['./b=c', [['./b=c']]],
])('reads %j as its commands', (line, commands) => {
  expect(readCommandLine(line)).toEqual({ kind: 'plain', commands });
});

// The shell's tricks of R283, and what a model may hide in a line.
it.each([
  'a $(b)',
  'a `b`',
  'a $b',
  'a ${b}',
  'a "$(b)"',
  'a "`b`"',
  'a "$b"',
  'a "\\$b"',
  `$'a'`,
  'a > b',
  'a >> b',
  'a 2> b',
  'a >| b',
  'a < b',
  'a <> b',
  'a << b\nx\nb',
  'a <<< b',
  'a <(b)',
  'a >(b)',
  'a &> b',
  'a 2>&1',
  'a |& b',
  'a & b',
  'a &',
  '(a)',
  '{ a; }',
  'a {b,c}',
  'a b*',
  'a b?',
  'a [b]',
  '*',
  'a ~',
  '~/a',
  'a ~b',
  '! a',
  'a "b!c"',
  'a # b',
  'a\\',
  'a\\\nb',
  'a \\; b',
  'a=b',
  'a=b c',
  '"a"=b c',
  'a+=b',
  `PATH='.' a`,
  'a ^ b',
  'if a; then b; fi',
  'while a; do b; done',
  'for a in b',
  'case a in b',
  'time a',
  'do a',
  'a\rb',
  'a\x1B[2Jb',
  'a\0b',
  '"a\x07"',
  'a',
  'a() b',
  'function a',
  'coproc a',
  '',
  '  ',
  '\n',
  ';',
  '; a',
  'a ;; b',
  'a && ',
  '&& a',
  'a ||',
  '| a',
  'a && && b',
  'a |\n',
  `a 'b`,
  'a "b',
  `'' a`,
  '"a b" c',
  '"a	b" c',
  'a\xA0b c',
  'a &&; b',
])('does not pretend to understand %j', (line) => {
  expect(readCommandLine(line).kind).toBe('opaque');
});

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'orion-command-line-'));
  for (const name of ['a', 'b', 'if']) {
    const program = join(folder, name);
    // One write for each run: the parts of a pipe run at once.
    writeFileSync(program, `#!/bin/sh\nprintf '%s\\001' ${name} "$@" end >> "$OUT"\n`);
    chmodSync(program, 0o700);
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The commands that the shell really runs, in any order. */
function ranBySh(line: string): readonly (readonly string[])[] {
  const out = join(folder, 'out');
  writeFileSync(out, '');
  try {
    execFileSync('/bin/sh', ['-c', line], {
      env: { PATH: folder, OUT: out },
      cwd: folder,
      stdio: 'ignore',
      timeout: 5_000,
    });
  } catch {
    // The exit code of the last command says nothing here.
  }
  return readFileSync(out, 'utf8')
    .split('\u0001end\u0001')
    .filter((command) => command !== '')
    .map((command) => command.split('\u0001'));
}

it('has the shell run no other command than those it lists', { timeout: 60_000 }, () => {
  const pieces = [
    'a',
    'b',
    'if',
    ' ',
    ' ',
    '	',
    '\n',
    ';',
    '&&',
    '||',
    '|',
    '&',
    "'",
    '"',
    "'b c'",
    '"b c"',
    '=',
    '$',
    '\\',
    '*',
    '#',
    '~',
    '!',
    '(',
    ')',
    '{',
    '}',
    '<',
    '-',
    ',',
    '%',
    '@',
    '+',
    'é',
    ':',
  ];
  let plain = 0;
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }), (parts) => {
      const line = `a ${parts.join('')}`;
      const read = readCommandLine(line);
      if (read.kind === 'opaque') return;
      plain += 1;
      // Programs that are not there run nothing, so that only the listed ones can be in the record.
      const listed = read.commands.map((words) => JSON.stringify(words));
      const ran = ranBySh(line).map((words) => JSON.stringify(words));
      expect(listed).toEqual(expect.arrayContaining(ran));
      // The first one always runs, unless the line is refused by the shell as a whole.
      expect(ran).toContain(listed[0]);
    }),
    { numRuns: 500, verbose: 1 },
  );
  expect(plain).toBeGreaterThan(10);
});

it('costs about as much as the line is long', () => {
  const read = readCommandLine(`a ${`'b' "c" d; `.repeat(50_000)}`);
  expect(read.kind === 'plain' && read.commands.length).toBe(50_000);
});

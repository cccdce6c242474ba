import { expect, it } from 'vitest';

import { formatDiff } from './format.ts';
import type { LineEdit } from './line-edits.ts';

/** Hazard: a diff that says something else than what was changed. */

async function formatted(
  edits: readonly LineEdit[],
  before: string | null = 'a.txt',
): Promise<readonly string[]> {
  async function* all(): AsyncGenerator<LineEdit, void, undefined> {
    yield* edits;
  }
  const lines: string[] = [];
  for await (const line of formatDiff(all(), { before, after: 'b.txt' })) lines.push(line);
  return lines;
}

function edit(kind: 'same' | 'removed' | 'added', text: string): LineEdit {
  return { kind, line: { text, omitted: 0, sha256: null } };
}
const same = (from: number, to: number): readonly LineEdit[] =>
  Array.from({ length: to - from + 1 }, (_, index) => edit('same', `${from + index}\n`));

it('nothing where nothing differs', async () => {
  expect(await formatted([])).toEqual([]);
  expect(await formatted([...same(1, 20), { kind: 'skipped', lines: 4 }])).toEqual([]);
});

it('of a file that was not there', async () => {
  expect(await formatted([edit('added', 'é\n'.normalize('NFC'))], null)).toHaveLength(4);
  const latin = Buffer.from('é\n').toString('latin1');
  expect(await formatted([edit('added', latin), edit('added', 'b')], null)).toEqual([
    '--- /dev/null',
    '+++ b/b.txt',
    '@@ -0,0 +1,2 @@',
    '+é',
    '+b',
    '\\ No newline at end of file',
  ]);
});

it('with three lines around each change, and one hunk where six stand between two', async () => {
  expect(
    await formatted([
      ...same(1, 5),
      edit('removed', 'x\n'),
      ...same(6, 11),
      edit('added', 'y\n'),
      ...same(12, 20),
    ]),
  ).toEqual([
    '--- a/a.txt',
    '+++ b/b.txt',
    '@@ -3,13 +3,13 @@',
    ' 3',
    ' 4',
    ' 5',
    '-x',
    ' 6',
    ' 7',
    ' 8',
    ' 9',
    ' 10',
    ' 11',
    '+y',
    ' 12',
    ' 13',
    ' 14',
  ]);
});

it('two hunks where seven stand between, and lines that were skipped count', async () => {
  expect(
    await formatted([
      edit('removed', 'x\n'),
      ...same(2, 8),
      edit('added', 'y\n'),
      ...same(9, 15),
      { kind: 'skipped', lines: 100 },
      edit('removed', 'z\n'),
    ]),
  ).toEqual([
    '--- a/a.txt',
    '+++ b/b.txt',
    '@@ -1,4 +1,3 @@',
    '-x',
    ' 2',
    ' 3',
    ' 4',
    '@@ -6,6 +5,7 @@',
    ' 6',
    ' 7',
    ' 8',
    '+y',
    ' 9',
    ' 10',
    ' 11',
    '@@ -116 +115,0 @@',
    '-z',
  ]);
});

it('a line that cannot be shown', async () => {
  const binary: LineEdit = { kind: 'added', line: { text: 'a\0b\n', omitted: 0, sha256: null } };
  const long: LineEdit = { kind: 'added', line: { text: 'abc', omitted: 40, sha256: 'f00' } };
  const both: LineEdit = { kind: 'added', line: { text: 'a\0c', omitted: 40, sha256: 'f00' } };
  expect((await formatted([binary, long, both])).slice(2)).toEqual([
    '@@ -0,0 +1,3 @@',
    '+(binary: 3 bytes)',
    '+abc (this line goes on for 40 bytes; its sha256 is f00)',
    '+(binary: 43 bytes)',
  ]);
});

it('a hunk of more than 5,000 lines, or of two mebibytes, is told as several', async () => {
  const many = await formatted(Array.from({ length: 5001 }, () => edit('added', 'x\n')));
  expect(many.filter((line) => line.startsWith('@@'))).toEqual([
    '@@ -0,0 +1,5000 @@',
    '@@ -0,0 +5001 @@',
  ]);
  const half = edit('removed', `${'x'.repeat(1024 * 1024 - 1)}\n`);
  const large = await formatted([half, half, edit('removed', 'x\n')]);
  expect(large.filter((line) => line.startsWith('@@'))).toEqual([
    '@@ -1,2 +0,0 @@',
    '@@ -3 +0,0 @@',
  ]);
});

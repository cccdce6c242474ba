import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';

import { isRefused, planOn, resultOf } from '../testing/memory-files.ts';
import { isShortened } from './format.ts';
import { readDiff } from './read-diff.ts';

/** Hazard: a diff that does not show what is written. */

async function diffAfter(
  file: string | null,
  operations: readonly object[],
  limit = 1e6,
  chunkBytes = 7,
): Promise<{ readonly text: string; readonly cut: boolean; readonly result: string }> {
  const planned = await planOn(
    file === null ? {} : { 'a.txt': file },
    { intent: 'test', target_file: 'a.txt', operations },
    chunkBytes,
  );
  const [change] = planned.changes;
  if (change === undefined || isRefused(planned)) throw new Error('refused');
  return { ...(await readDiff(change, limit, null)), result: await resultOf(planned) };
}

const numbers = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join('');

describe('a unified diff', () => {
  it('shows a new file', async () => {
    const { text } = await diffAfter(null, [{ type: 'create', content: 'one\ntwo' }]);
    expect(text).toBe(
      '--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n',
    );
  });

  it('shows three lines around a change, and changes far apart in hunks of their own', async () => {
    const { text } = await diffAfter(numbers(1, 40), [
      {
        type: 'insert',
        location_marker: '^10$',
        marker_type: 'regex',
        position: 'after',
        content: 'x',
      },
      { type: 'replace_all', find: '30\n', content: 'thirty\n' },
    ]);
    expect(text).toBe(
      `--- a/a.txt\n+++ b/a.txt\n@@ -8,6 +8,7 @@\n 8\n 9\n 10\n+x\n 11\n 12\n 13\n` +
        `@@ -27,7 +28,7 @@\n 27\n 28\n 29\n-30\n+thirty\n 31\n 32\n 33\n`,
    );
  });

  it.each([5, 50, 500, 5000])(
    'counts the lines of a long run as right as it tells them: %i',
    async (chunk) => {
      const operations = [
        { type: 'replace_all', find: '\n500\n', content: '\nfive hundred\n' },
        { type: 'append', content: 'end\n' },
      ];
      const { text } = await diffAfter(numbers(1, 900), operations, 1e6, chunk);
      expect(text).toBe(
        '--- a/a.txt\n+++ b/a.txt\n@@ -497,7 +497,7 @@\n 497\n 498\n 499\n-500\n+five hundred\n 501\n 502\n 503\n' +
          '@@ -898,3 +898,4 @@\n 898\n 899\n 900\n+end\n',
      );
    },
  );

  it('compares the lines of a file that is overwritten', async () => {
    const changed = numbers(1, 12).replace('6\n', 'six\n');
    const { text } = await diffAfter(numbers(1, 12), [{ type: 'overwrite', content: changed }]);
    expect(text).toBe(
      '--- a/a.txt\n+++ b/a.txt\n@@ -3,7 +3,7 @@\n 3\n 4\n 5\n-6\n+six\n 7\n 8\n 9\n',
    );
  });

  it('shows an added last line without its ending', async () => {
    const { text } = await diffAfter('a', [{ type: 'append', content: '\nb' }]);
    expect(text).toBe(
      '--- a/a.txt\n+++ b/a.txt\n@@ -1 +1,2 @@\n-a\n\\ No newline at end of file\n+a\n+b\n\\ No newline at end of file\n',
    );
  });

  it('keeps carriage returns, names binary lines, and is empty for no change', async () => {
    const crlf = await diffAfter('a\r\nb\r\n', [{ type: 'append', content: 'c\n' }]);
    expect(crlf.text).toContain('\n+c\r\n');
    const binary = await diffAfter('\0\u0001\n', [{ type: 'overwrite', content: 'c\n' }]);
    expect(binary.text).toContain('-(binary: 2 bytes)\n+c\n');
    expect((await diffAfter('a\n', [{ type: 'overwrite', content: 'a\n' }])).text).toBe('');
  });

  it('bounds a line that never ends and still tells two of them apart', async () => {
    const long = 'x'.repeat(100_000);
    const { text } = await diffAfter(`${long}a`, [{ type: 'overwrite', content: `${long}b` }]);
    expect(text.length).toBeLessThan(140_000);
    expect(text).toContain('(this line goes on for 34465 bytes; its sha256 is ');
    const lines = text.split('\n');
    expect(lines.filter(isShortened).map((line) => line[0])).toEqual(['-', '+']);
  });

  it('is cut where it was asked to be', async () => {
    const { text, cut } = await diffAfter(null, [{ type: 'create', content: numbers(1, 999) }], 50);
    expect(cut).toBe(true);
    expect(text.length).toBeLessThanOrEqual(50);
  });

  it('tells regions that are too large to compare as they stand', { tags: ['long'] }, async () => {
    const { text } = await diffAfter(
      numbers(1, 60_000),
      [{ type: 'overwrite', content: numbers(2, 60_001) }],
      1e9,
    );
    expect(text.split('\n').filter((line) => line.startsWith('-')).length).toBe(60_001);
  });
});

const directory = mkdtempSync(join(tmpdir(), 'orion-diff-'));
afterAll(() => rmSync(directory, { recursive: true }));

const line = fc.constantFrom('a', 'b', 'c', '', 'é', 'x y');
const content = fc
  .tuple(fc.array(line, { maxLength: 14 }), fc.boolean())
  .map(([words, ended]) => words.join('\n') + (ended && words.length > 0 ? '\n' : ''));
/** Long runs that stay, with few places to change. */
const longContent = fc
  .array(fc.tuple(content, fc.nat({ max: 40 })), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map(([text, run]) => text + '\n' + 'run\n'.repeat(run)).join(''));
const step = fc.oneof(
  content.map((text) => ({ type: 'append', content: text })),
  content.map((text) => ({ type: 'overwrite', content: text })),
  fc.record({ type: fc.constant('replace_all'), find: fc.constantFrom('a', 'b\n', 'c'), content }),
  fc.record({
    type: fc.constant('insert'),
    location_marker: fc.constantFrom('x y', 'é'),
    position: fc.constantFrom('before', 'after'),
    content,
  }),
);

it.skipIf(spawnSync('patch', ['--version']).status !== 0)(
  'is what patch(1) needs to make the new file from the old one',
  async () => {
    const file = join(directory, 'a.txt');
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(content, longContent),
        fc.array(step, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(3, 30, 3000),
        async (old, steps, chunk) => {
          const diff = await diffAfter(old, steps, 1e6, chunk).catch(() => null);
          if (diff === null || diff.text === '') return;
          writeFileSync(file, old);
          const patched = spawnSync('patch', ['--binary', '-s', '-f', '-p1', '-d', directory], {
            input: diff.text,
          });
          expect(patched.stdout.toString() + patched.stderr.toString()).toBe('');
          const made = diff.result === '' ? '' : readFileSync(file, 'utf8');
          expect(made).toBe(diff.result);
        },
      ),
      { numRuns: 60 },
    );
  },
  60_000,
);

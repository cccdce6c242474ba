import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { imageOfTexts } from '../file-image.ts';
import { lineEdits } from './line-edits.ts';
import type { LineEdit } from './line-edits.ts';

/** Hazard: the bounds of what is held are reached, and the diff is cut or compared wrongly (L2). */

const LINE_BYTES = 64 * 1024;

/** The edits of a file that is overwritten, read in pieces of so many bytes. */
async function edits(before: string, after: string, chunk = 1 << 20): Promise<readonly LineEdit[]> {
  async function* pieces(text: string): AsyncGenerator<Uint8Array, void, undefined> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
  }
  const image = imageOfTexts([{ source: () => pieces(after), bytes: Buffer.byteLength(after) }]);
  const all: LineEdit[] = [];
  for await (const edit of lineEdits(image, Buffer.byteLength(before), () => pieces(before)))
    all.push(edit);
  return all;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

describe.each([1 << 20, 1000])('a long line, read in pieces of %i bytes', (chunk) => {
  it('is held to 64 KiB, with its ending', async () => {
    const text = `${'x'.repeat(LINE_BYTES - 1)}\n`;
    expect(await edits('', text, chunk)).toEqual([
      { kind: 'added', line: { text, omitted: 0, sha256: null } },
    ]);
  });

  it('is cut behind that, and known by the hash of all of it', async () => {
    for (const more of [1, 5000]) {
      const text = `${'x'.repeat(LINE_BYTES + more - 1)}\n`;
      expect(await edits('', text, chunk)).toEqual([
        {
          kind: 'added',
          line: { text: text.slice(0, LINE_BYTES), omitted: more, sha256: sha256(text) },
        },
      ]);
    }
  });

  it('differs where it was cut', async () => {
    const [one, other] = ['a', 'b'].map((end) => `${'x'.repeat(LINE_BYTES)}${end}\n`);
    const kinds = (await edits(`0\n${one}`, `0\n${other}`, chunk)).map(({ kind }) => kind);
    expect(kinds).toEqual(['same', 'removed', 'added']);
    const same = (await edits(`0\n${one}`, `1\n${one}`, chunk)).map(({ kind }) => kind);
    expect(same).toEqual(['removed', 'added', 'same']);
  });
});

/** `same` becomes ` `, `removed` `-` and `added` `+`. */
function signs(all: readonly LineEdit[]): string {
  return all
    .map(({ kind }) => ({ same: ' ', removed: '-', added: '+', skipped: '~' })[kind])
    .join('');
}

it('compares up to 50,000 changed lines, and tells more as a block', async () => {
  const before = 'x\n'.repeat(25_000);
  const compared = signs(await edits(before, `${'x\n'.repeat(24_999)}y\n`));
  expect(compared).toBe(`${' '.repeat(24_999)}-+`);
  const told = signs(await edits(before, `${'x\n'.repeat(25_000)}y\n`));
  expect(told).toBe(`${'-'.repeat(25_000)}${'+'.repeat(25_001)}`);
});

it('tells what comes behind such a block as it comes', async () => {
  const all = await edits('x\n'.repeat(50_003), 'y\nz\n');
  expect(signs(all)).toBe(`${'-'.repeat(50_003)}++`);
  expect(all.slice(-3)).toEqual([
    { kind: 'removed', line: { text: 'x\n', omitted: 0, sha256: null } },
    { kind: 'added', line: { text: 'y\n', omitted: 0, sha256: null } },
    { kind: 'added', line: { text: 'z\n', omitted: 0, sha256: null } },
  ]);
});

it('compares up to eight mebibytes of them, and tells more as a block', async () => {
  const line = `${'x'.repeat(LINE_BYTES - 1)}\n`;
  expect(signs(await edits(line.repeat(64), line.repeat(64)))).toBe(' '.repeat(64));
  expect(signs(await edits(line.repeat(64), `${line.repeat(64)}\n`))).toBe(
    `${'-'.repeat(64)}${'+'.repeat(65)}`,
  );
});

it('tells lines that differ too much as a block, between those that are the same', async () => {
  const lines = (letter: string): string =>
    Array.from({ length: 400 }, (_, index) => `${letter}${index}\n`).join('');
  const many = (letter: string): string => `0\n${lines(letter)}same\n${lines(letter)}1\n`;
  expect(signs(await edits(many('a'), many('b')))).toBe(` ${'-'.repeat(801)}${'+'.repeat(801)} `);
});

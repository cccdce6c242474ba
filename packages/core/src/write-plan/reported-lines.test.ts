import type { Seam } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { countLineFeeds, linesInFile, hasReportedLines } from './reported-lines.ts';
import type { FilePart } from './reported-lines.ts';

/** Hazard: a receipt names a line at which a person finds something else (R245). */

const TEXT = 'Sure:\n\none\ntwo\nthree\n```\n';

async function* inChunks(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield new Uint8Array();
  for (const byte of Buffer.from(text)) yield Uint8Array.of(byte);
  yield new Uint8Array();
}

async function* whole(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  yield Buffer.from(text);
}

function partOf(text: string, start: number, end: number | null, chunks = inChunks): FilePart {
  return {
    handle: {
      bytes: () => Buffer.byteLength(text),
      readContent: (from = 0, to) => chunks(Buffer.from(text).subarray(from, to).toString()),
    },
    start,
    end,
  };
}

function seamAt(line: number): Seam {
  return {
    line,
    status: 'verified',
    via: 'anchor',
    lines_dropped: 2,
    text_set_aside: 0,
    conversion: 'none',
  };
}

/** Every line of 0 to 9 that is named, as a DONE and as a seam. */
async function named(
  part: FilePart,
  linesBefore = 0,
): Promise<readonly [done: readonly number[], seams: readonly number[]]> {
  const all = Array.from({ length: 10 }, (_, line) => line);
  const told = await linesInFile(
    { innerDoneLines: all, seams: all.map(seamAt) },
    part,
    linesBefore,
  );
  for (const seam of told.seams) expect(seam).toEqual(seamAt(seam.line));
  return [told.innerDoneLines, told.seams.map(({ line }) => line)];
}

describe.each([
  ['byte by byte', inChunks],
  ['at once', whole],
])('the lines that are named, read %s', (_, chunks) => {
  it.each<[string, FilePart, number, readonly number[], readonly number[]]>([
    ['of a whole text', partOf('a\nb\n', 0, null, chunks), 0, [1, 2], [1, 2, 3]],
    ['with an open line', partOf('a\nb', 0, null, chunks), 0, [1, 2], [1, 2, 3]],
    ['of nothing', partOf('', 0, null, chunks), 0, [], [1]],
    ['behind a lead', partOf(TEXT, 7, null, chunks), 0, [1, 2, 3, 4], [1, 2, 3, 4, 5]],
    ['cut at its end', partOf(TEXT, 7, 21, chunks), 0, [1, 2, 3], [1, 2, 3]],
    ['without its last ending', partOf('a\nb\n', 0, 3, chunks), 0, [1, 2], [1, 2, 3]],
    ['without a CRLF', partOf('a\r\nb\r\n', 0, 4, chunks), 0, [1, 2], [1, 2, 3]],
    ['cut by three bytes', partOf('a\nb\ncd\n', 0, 4, chunks), 0, [1, 2], [1, 2]],
    ['behind lines of the file', partOf('a\nb\n', 0, null, chunks), 7, [8, 9], [8, 9, 10]],
    ['all of that', partOf(TEXT, 7, 21, chunks), 2, [3, 4, 5], [3, 4, 5]],
  ])('%s', async (_name, part, linesBefore, done, seams) => {
    expect(await named(part, linesBefore)).toEqual([done, seams]);
  });
});

it('nothing is read where nothing is named (L2)', async () => {
  const told = { innerDoneLines: [], seams: [] };
  const unread: FilePart = {
    handle: {
      bytes: () => {
        throw new Error('read');
      },
      readContent: () => {
        throw new Error('read');
      },
    },
    start: 0,
    end: null,
  };
  expect(await linesInFile(told, unread, 3)).toBe(told);
  expect(hasReportedLines(told)).toBe(false);
  expect(hasReportedLines({ ...told, innerDoneLines: [1] })).toBe(true);
  expect(hasReportedLines({ ...told, seams: [seamAt(1)] })).toBe(true);
});

it.each([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 1],
  [4, 2],
  [5, 3],
  [99, 3],
])('of the first %i bytes %i are line feeds', async (bytes, count) => {
  expect(await countLineFeeds(inChunks('a\nb\n\n'), bytes)).toBe(count);
  expect(await countLineFeeds(whole('a\nb\n\n'), bytes)).toBe(count);
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { dividedText, hazardousTexts } from '../testing/splits.ts';
import { createDoneScan, endDoneScan, scanForDone } from './done-scan.ts';
import type { InnerDone } from './inner-done.ts';

function scanned(pieces: readonly string[]): InnerDone {
  return endDoneScan(pieces.reduce(scanForDone, createDoneScan()));
}

describe('R022: bare DONE lines of saved content', () => {
  it.each<[string, readonly number[], readonly number[]]>([
    ['one\ntwo\n', [], []],
    ['Steps:\nDONE\nnot finished\n', [2], []],
    ['one\nDONE\nI am finished now.\nmore', [2], [2]],
    ['one\r\nDONE\r\n\r\nNext steps:\r\n', [2], [2]],
    ['DONE\nLet me know!\nDONE\nThat is all.\n', [1, 3], [3, 1]],
    ['one\nDONE 0000\nIs this right:\n', [2], [2]],
    ['one\nDONE', [2], []],
    ['one\nDONE\n```\n', [2], []],
    ['one\nDONE.\n DONE\nDONENESS\n', [], []],
  ])('of %j', (text, lines, ends) => {
    const found = scanned([text]);
    expect(found.lines).toEqual(lines);
    expect(found.chatEnds.map((end) => end.line)).toEqual(ends);
    for (const { line, contentEnd } of found.chatEnds) {
      const before = Buffer.from(text).subarray(0, contentEnd).toString();
      expect(before.split('\n')).toHaveLength(line);
    }
  });

  it('do not depend on how the text is divided', () => {
    fc.assert(
      fc.property(dividedText(hazardousTexts), ({ text, pieces }) => {
        expect(scanned(pieces)).toEqual(scanned([text]));
      }),
    );
  });
});

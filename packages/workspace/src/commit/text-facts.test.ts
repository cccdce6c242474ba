/** R276, R298, R272: what a file is before anything is added to it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextInspector } from './text-facts.ts';
import type { TextFacts } from './text-facts.ts';

function factsOf(bytes: Uint8Array, chunkBytes: number = bytes.length): TextFacts {
  const inspector = new TextInspector();
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    // As from a file that is scanned: the memory is used again.
    const chunk = Uint8Array.from(bytes.subarray(at, at + chunkBytes));
    inspector.add(chunk);
    chunk.fill(0);
  }
  return inspector.facts();
}

function wide(text: string, bytes: 2 | 4, order: 'le' | 'be'): Buffer {
  const units = [...text].map((character) => {
    const unit = Buffer.alloc(bytes);
    const code = character.codePointAt(0) ?? 0;
    if (order === 'le') unit.writeUIntLE(code, 0, bytes);
    else unit.writeUIntBE(code, 0, bytes);
    return unit;
  });
  return Buffer.concat(units);
}

const LINE = 'Grüße, 日本\nzwei\n';

describe('R276: the encoding of a file', () => {
  it.each<[string, Uint8Array, TextFacts['encoding']]>([
    ['nothing', Buffer.alloc(0), undefined],
    ['ASCII', Buffer.from('one\n'), undefined],
    ['UTF-8', Buffer.from(LINE), undefined],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${LINE}`), undefined],
    ['UTF-16LE', wide(LINE, 2, 'le'), 'utf-16le'],
    ['UTF-16BE', wide(LINE, 2, 'be'), 'utf-16be'],
    ['UTF-16LE with a mark', wide(`\ufeff${LINE}`, 2, 'le'), 'utf-16le'],
    ['UTF-16BE with a mark', wide(`\ufeff${LINE}`, 2, 'be'), 'utf-16be'],
    ['UTF-16LE with a mark and no NUL', wide('\ufeff日本語', 2, 'le'), 'utf-16le'],
    ['UTF-16LE of one character', wide('\ufeffa', 2, 'le'), 'utf-16le'],
    ['UTF-32LE', wide(LINE, 4, 'le'), 'utf-32le'],
    ['UTF-32BE', wide(LINE, 4, 'be'), 'utf-32be'],
    ['UTF-32LE with a mark', wide(`\ufeff${LINE}`, 4, 'le'), 'utf-32le'],
    ['UTF-32BE with a mark', wide(`\ufeff${LINE}`, 4, 'be'), 'utf-32be'],
    ['UTF-32LE beyond the first plane', wide('a😀\n', 4, 'le'), 'utf-32le'],
    ['a NUL in text', Buffer.from('one\0two\n'), 'binary'],
    ['a NUL at an odd place', Buffer.from('one, two, thre\0e\n'), 'binary'],
    ['an executable', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0, 0, 0]), 'binary'],
    ['only NULs', Buffer.alloc(64), 'binary'],
    ['Latin-1', Buffer.from('Grüße\n', 'latin1'), '8-bit'],
    ['Shift-JIS', Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x0a]), '8-bit'],
    ['half a character at the end', Buffer.from('Grüß', 'utf8').subarray(0, 5), '8-bit'],
    ['a surrogate', Buffer.from([0xed, 0xa0, 0x80]), '8-bit'],
  ])('%s', (_name, bytes, encoding) => {
    expect(factsOf(bytes).encoding).toBe(encoding);
    expect(factsOf(bytes, 1).encoding).toBe(encoding);
  });
});

describe('R298, R272: its first line and its last', () => {
  it.each<[string, Partial<TextFacts>]>([
    ['', { eol: 'none', bom: false }],
    ['one\n', { eol: 'lf', bom: false }],
    ['one', { eol: 'none', bom: false, unterminated: true }],
    ['one\r\ntwo', { eol: 'crlf', bom: false, unterminated: true }],
    ['\none\n', { eol: 'lf', bom: false, beginsBlank: true }],
    [' \t\r\none\n', { eol: 'mixed', bom: false, beginsBlank: true }],
    ['\n', { eol: 'lf', bom: false, beginsBlank: true }],
    ['  ', { eol: 'none', bom: false, unterminated: true }],
    ['  one\n\n', { eol: 'lf', bom: false }],
    ['\u00a0\none\n', { eol: 'lf', bom: false }],
    ['\ufeff\none\n', { eol: 'lf', bom: true }],
  ])('%j', (text, facts) => {
    expect(factsOf(Buffer.from(text))).toEqual(facts);
  });

  it('any split gives the same facts', () => {
    const byte = fc.oneof(
      fc.constantFrom(0, 0x0a, 0x20, 0x61, 0xc3, 0xa9, 0xff, 0xfe),
      fc.nat(255),
    );
    fc.assert(
      fc.property(
        fc.array(byte, { maxLength: 24 }),
        fc.integer({ min: 1, max: 9 }),
        (all, size) => {
          const bytes = Uint8Array.from(all);
          expect(factsOf(bytes, size)).toEqual(factsOf(bytes));
        },
      ),
    );
  });
});

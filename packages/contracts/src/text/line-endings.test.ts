import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CrlfConverter, TextTally, countLineFeeds } from './line-endings.ts';

const divided = fc.array(
  fc.string({ unit: fc.constantFrom('\r', '\n', 'a', '\ufeff'), maxLength: 6 }),
  { maxLength: 6 },
);

test('a tally says the same however the text is divided', () => {
  fc.assert(
    fc.property(divided, (pieces) => {
      const tally = new TextTally();
      for (const piece of pieces) tally.add(Buffer.from(piece));
      const text = pieces.join('');
      const lineFeeds = text.split('\n').length - 1;
      const crlf = text.split('\r\n').length - 1;
      expect(countLineFeeds(Buffer.from(text))).toBe(lineFeeds);
      expect(tally).toMatchObject({ bytes: Buffer.byteLength(text), lineFeeds, crlf });
      expect(tally.lines()).toBe(lineFeeds + (text === '' || text.endsWith('\n') ? 0 : 1));
      expect(tally.finalLineEnding()).toBe(/\r?\n$/u.exec(text)?.[0].length ?? 0);
      expect(tally.bom()).toBe(text.startsWith('\ufeff'));
      expect(tally.lastByte()).toBe(Buffer.from(text).at(-1) ?? -1);
    }),
  );
});

test.each([
  ['', 'none'],
  ['a\r', 'none'],
  ['a\nb\n', 'lf'],
  ['a\r\nb\r\n', 'crlf'],
  ['a\r\nb\n', 'mixed'],
])('%j has line endings of kind %s', (text, eol) => {
  const tally = new TextTally();
  tally.add(Buffer.from(text));
  expect(tally.eol()).toBe(eol);
});

test('each bare LF gets its CR, also after the byte before the text', () => {
  fc.assert(
    fc.property(divided, fc.constantFrom('', '\r', 'a'), (pieces, before) => {
      const converter = new CrlfConverter(Buffer.from(before).at(-1));
      const out = pieces.map((piece) => Buffer.from(converter.push(Buffer.from(piece))));
      const whole = before + pieces.join('');
      expect(before + Buffer.concat(out).toString()).toBe(whole.replace(/(?<!\r)\n/gu, '\r\n'));
      expect(converter.found).toBe(whole.split('\r\n').length - 1);
    }),
    { numRuns: 500 },
  );
});

test('a chunk with nothing to convert is passed on as it is', () => {
  const chunk = Buffer.from('a\r\nb');
  expect(new CrlfConverter().push(chunk)).toBe(chunk);
});

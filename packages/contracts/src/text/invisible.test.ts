import fastCheck from 'fast-check';
import { describe, expect, test } from 'vitest';

import { isIgnoredWhenDrawn, quotedName, visibleName, visibleProse } from './invisible.ts';

/** Hazard: a person says yes to something of which a part was not to be seen (B16). */

const ATTACKS: readonly (readonly [name: string, text: string])[] = [
  ['soft hyphen', 'a\u00adb'],
  ['unassigned, ignored', 'a\u2065b'],
  ['Mongolian selectors', 'a\u180b\u180fb'],
  ['shorthand format control', 'a\u{1bca0}b'],
  ['musical format control', 'a\u{1d173}b'],
  ['selector of the second plane', 'a\u{e0180}b'],
  ['300 braille blanks', `a${'\u2800'.repeat(300)}b`],
  ['no-break space', 'a\u00a0b'],
  ['ideographic space', 'a\u3000b'],
  ['fillers', 'a\u115f\u1160\u3164\uffa0b'],
  ['tags', 'a\u{e0041}\u{e007f}b'],
  ['directions', 'a\u202e\u2066\u2069\u200f\u061cb'],
  ['no width', 'a\u200b\u2060\ufeff\u180eb'],
  ['private use', 'a\ue000\u{f0000}b'],
  ['unassigned', 'a\u0378b'],
  ['controls', 'a\u0000\u001b\u007f\u009bb'],
  ['line ends', 'a\r\n\u2028\u2029\u0085b'],
  ['annotations', 'a\ufff9\ufffa\ufffbb'],
  ['half a pair', 'a\ud83d'],
  ['joiners in Latin', 'rm\u200d -\u200crf'],
  ['a selector behind a letter', 'a\ufe0f'],
  ['a run of joiners between Persian letters', 'می\u200c\u200cخواهم'],
  ['a run of selectors behind an emoji', '❤\ufe0f\ufe0f\ufe0e'],
  ['a joiner behind an emoji that joins nothing', '👩\u200d'],
  ['two joiners between emoji', '👩\u200d\u200d👧'],
  ['a message of tags behind a flag', `🏴${'\u{e0061}'.repeat(3)}`],
  ['a run of selectors behind an ideograph', '葛\u{e0100}\u{e0101}'],
  ['selectors behind a digit', '1\ufe0f'],
];

/** A character that is drawn: no part of an escape is one of the class. */
const NOTHING_UNSEEN = /^[[^\p{C}\p{White_Space}\p{Default_Ignorable_Code_Point}\u2800]\u0020]*$/v;

describe('each is shown', () => {
  test.for(ATTACKS)('%s', ([, text]) => {
    const shown = visibleName(text);
    expect(shown).toMatch(NOTHING_UNSEEN);
    const unseen = [...text].filter((character) => !NOTHING_UNSEEN.test(character));
    for (const character of unseen)
      expect(shown).toContain(`\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
    expect(unseen.length).toBeGreaterThan(0);
    // In prose, too: none of these is required at its place. In a run, one may be.
    const left = [...visibleProse(text)].filter((character) => !NOTHING_UNSEEN.test(character));
    expect(left.length).toBe(text.startsWith('❤') ? 1 : 0);
  });
});

test.each([
  ['a family', '👩\u200d👩\u200d👧'],
  ['skin and a profession', '👩🏽\u200d🚀'],
  ['a flag of two', '🏳\ufe0f\u200d🌈'],
  ['a heart between two', '👩\u200d❤\ufe0f\u200d💋\u200d👨'],
  ['an emoji drawn as text', '❤\ufe0e ⚠\ufe0f'],
  ['a keycap', '1\ufe0f\u20e3 #\ufe0f\u20e3'],
  ['a country', '🇩🇪'],
  ['Persian', 'می\u200cخواهم'],
  ['Hindi', 'क्\u200dष और क्\u200cष'],
  ['Sinhala', 'ශ්\u200dරී'],
  ['Malayalam', 'ന്\u200dറെ'],
  ['an ideograph with its form', '葛\u{e0100}城'],
  ['Mongolian', 'ᠠ\u180b ᠪ'],
  ['accents that combine', 'e\u0301 نَص'],
])('%s stays readable in prose, and nothing unseen of it stays in a name', (_name, text) => {
  expect(visibleProse(text)).toBe(text);
  expect(visibleName(text)).toMatch(NOTHING_UNSEEN);
});

test('what is to be seen is left alone', () => {
  for (const text of ['', 'plain ~!', 'naïve – “quoted” … 漢字 עברית', '  indented']) {
    expect(visibleName(text)).toBe(text);
    expect(visibleProse(text)).toBe(text);
  }
});

test('whatever a name is made of, it is shown whole, and two names are never shown alike', () => {
  const name = fastCheck
    .array(fastCheck.oneof(fastCheck.nat(0xff), fastCheck.nat(0xffff), fastCheck.nat(0x10ffff)), {
      maxLength: 8,
    })
    .map((points) => String.fromCodePoint(...points));
  fastCheck.assert(
    fastCheck.property(name, name, (one, other) => {
      expect(visibleName(one)).toMatch(NOTHING_UNSEEN);
      expect(JSON.parse(quotedName(one))).toBe(one);
      expect(quotedName(one)).toMatch(NOTHING_UNSEEN);
      if (one !== other) expect(quotedName(one)).not.toBe(quotedName(other));
    }),
    { numRuns: 300 },
  );
});

test('what is drawn as nothing in a file', () => {
  for (const codePoint of [
    0xad, 0x34f, 0x180e, 0x200b, 0x202e, 0x2065, 0x2800, 0xfeff, 0xfffa, 0x1bca0, 0xe0180,
  ])
    expect(isIgnoredWhenDrawn(codePoint), codePoint.toString(16)).toBe(true);
  for (const codePoint of [0x20, 0x41, 0xa0, 0xe9, 0x3000, 0x4e00, 0xe000, 0x1f469, 0x10ffff])
    expect(isIgnoredWhenDrawn(codePoint), codePoint.toString(16)).toBe(false);
});

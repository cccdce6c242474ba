import fc from 'fast-check';

/** Every character, and both halves of a pair, on its own. */
export function unitsOf(text: string): readonly string[] {
  return text.split('');
}

export function splitAt(text: string, cuts: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  let from = 0;
  for (const cut of [...cuts].sort((left, right) => left - right)) {
    pieces.push(text.slice(from, cut));
    from = cut;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** A text and one division of it; empty pieces included. */
export function dividedText(
  texts: fc.Arbitrary<string>,
): fc.Arbitrary<{ readonly text: string; readonly pieces: readonly string[] }> {
  return texts.chain((text) =>
    fc
      .array(fc.nat({ max: text.length }), { maxLength: 12 })
      .map((cuts) => ({ text, pieces: splitAt(text, cuts) })),
  );
}

/** Texts in which every marker, near miss, fence, line ending and split pair is likely. */
export const hazardousTexts: fc.Arbitrary<string> = fc
  .array(
    fc.constantFrom(
      'DONE',
      'DONE\n',
      'DONE\r\n',
      'DONE 7f3a',
      'DONE 7f3a\n',
      'DONE 7f3b\n',
      'DONE.',
      '**DONE**\n',
      'done',
      ' do\n',
      '\n\nI hope this helps!',
      'D',
      'O',
      'N',
      'E',
      '\n',
      '\n',
      '\n',
      '\r\n',
      '\r',
      ' ',
      '\t',
      '```\n',
      '```',
      '`',
      '   ```\n',
      '````\n',
      '```js\n',
      '```md\n',
      '~~~\n',
      'Here it is:\n',
      'x',
      'x = 1\n',
      'é',
      '😀',
      '\ud83d',
      '\ude00',
      '\u2028',
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(''));

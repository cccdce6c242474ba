import { isLowSurrogate } from '@orion/contracts';
import fc from 'fast-check';
import type { TargetKind } from '../target-kind.ts';

export type GeneratedDocument = {
  readonly name: string;
  readonly kind: TargetKind;
  readonly text: string;
  /** Whether lines with ink come more than once, so that some joins cannot be told apart. */
  readonly repetitive: boolean;
};

const WORDS = [
  'alpha',
  'retry',
  'buffer',
  'merge',
  'Socket',
  'token',
  'the',
  'of',
  'when',
  'never',
  'x',
  'naïve',
  'offset',
  'is',
];

const words: fc.Arbitrary<string> = fc
  .array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 9 })
  .map((list) => list.join(' '));

/** Every line once, but for closing brackets and blank lines. */
const codeLines: fc.Arbitrary<readonly string[]> = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.tuple(fc.nat({ max: 3 }), words) },
      { weight: 1, arbitrary: fc.constant('}') },
      { weight: 1, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: fc.constant('  });') },
    ),
    { minLength: 3, maxLength: 60 },
  )
  // Two equal lines at the very start are a repeated anchor, which rule 6 refuses.
  .map((lines) => lines.slice(lines.findIndex((line) => typeof line !== 'string')))
  // A run of equal lines is a matter of its own.
  .map((lines) => lines.filter((line, index) => index === 0 || line !== lines[index - 1]))
  .map((lines) =>
    lines.map((line, index) =>
      typeof line === 'string'
        ? line
        : `${'  '.repeat(line[0])}${line[1].replaceAll(' ', '_')}(${index}, "${line[1]}");`,
    ),
  );

const proseLines: fc.Arbitrary<readonly string[]> = fc
  .array(fc.tuple(words, fc.integer({ min: 1, max: 40 }), fc.constantFrom('.', ':', '!', '')), {
    minLength: 2,
    maxLength: 20,
  })
  .map((paragraphs) =>
    paragraphs.flatMap(([text, repeat, end], index) => [
      `Paragraph ${index} ${Array.from({ length: repeat }, (_, part) => `${text} ${index}.${part}`).join(' ')}${end}`,
      ...(index % 3 === 2 ? ['', ''] : ['']),
    ]),
  );

/**
 * Numbered near their beginning: a line that is open behind as many words as another one has too, both of them chat, is
 * rightly found at both.
 */
const markdownLines: fc.Arbitrary<readonly string[]> = fc
  .array(
    fc.oneof(
      words.map((text) => ['', `## Heading of ${text}`, '']),
      words.map((text) => [`A sentence about ${text}.`, '']),
      words.map((text) => ['```js', `const ${text.replaceAll(' ', '_')} = 1;`, '```', '']),
      words.map((text) => [`- item ${text}`, `  - nested ${text}`]),
    ),
    { minLength: 2, maxLength: 16 },
  )
  .map((blocks) =>
    blocks.flatMap((block, index) =>
      block.map((line) =>
        line.startsWith('```') ? line : line.replace(/^\W*\w+/u, (start) => `${start} ${index}`),
      ),
    ),
  );

const wideLines: fc.Arbitrary<readonly string[]> = fc
  .array(
    fc
      .array(fc.constantFrom('漢字', 'かな', '😀', '👩‍👩‍👧', '…', '。', 'ü', ' '), {
        minLength: 1,
        maxLength: 20,
      })
      .map((parts) => parts.join('')),
    { minLength: 3, maxLength: 30 },
  )
  .map((lines) => lines.map((line, index) => `${index}号${line}終`));

/** Numbered at both ends: a document that ends as the anchor begins looks like one that repeats it, and is refused. */
const longLines: fc.Arbitrary<readonly string[]> = fc
  .array(fc.tuple(words, fc.integer({ min: 20, max: 400 })), { minLength: 1, maxLength: 4 })
  .map((lines) =>
    lines.map(([text, repeat], line) =>
      Array.from({ length: repeat }, (_, index) => `"${line}.${index} ${text} ${index}"`).join(','),
    ),
  );

const repetitiveLines: fc.Arbitrary<readonly string[]> = fc
  .array(
    fc.tuple(fc.constantFrom('row', '0,0,0,0', '', '  | a line of a table |', 'end'), fc.nat(40)),
    { minLength: 2, maxLength: 8 },
  )
  .map((runs) => runs.flatMap(([line, count]) => Array.from({ length: count + 1 }, () => line)));

function documentsOf(
  name: string,
  kind: TargetKind,
  lines: fc.Arbitrary<readonly string[]>,
  repetitive = false,
): fc.Arbitrary<GeneratedDocument> {
  return fc
    .tuple(lines, fc.constantFrom('\n', '\n', '\r\n'), fc.boolean())
    .map(([list, ending, terminated]) => ({
      name: ending === '\n' ? name : `${name}, CRLF`,
      kind,
      text: list.join(ending) + (terminated ? ending : ''),
      repetitive,
    }))
    .filter(({ text }) => /[^\s]/u.test(text) && text.length > 4);
}

export const distinctDocuments: fc.Arbitrary<GeneratedDocument> = fc.oneof(
  documentsOf('code', 'code', codeLines),
  documentsOf('prose', 'prose', proseLines),
  documentsOf('Markdown', 'markdown', markdownLines),
  documentsOf('CJK and emoji', 'prose', wideLines),
  documentsOf('long lines', 'code', longLines),
);

export const repetitiveDocuments: fc.Arbitrary<GeneratedDocument> = documentsOf(
  'repetitive',
  'code',
  repetitiveLines,
  true,
);

/** A document and how much of it is saved: at least one character that is not blank, on a code-point border. */
export function cutDocument(
  documents: fc.Arbitrary<GeneratedDocument>,
): fc.Arbitrary<{ readonly document: GeneratedDocument; readonly saved: string }> {
  return documents.chain((document) => {
    const first = document.text.search(/\S/u);
    return fc
      .oneof(
        fc.integer({ min: first + 2, max: document.text.length }),
        // Where a line ends, as a save of whole lines or a model that stops at one leaves it.
        fc.nat().map((pick) => {
          const ends = [...document.text.matchAll(/\n/gu)].map(({ index }) => index + 1);
          const later = ends.filter((end) => end > first);
          return later[pick % Math.max(later.length, 1)] ?? document.text.length;
        }),
      )
      .map((cut) => ({ document, saved: document.text.slice(0, borderAt(document.text, cut)) }));
  });
}

function borderAt(text: string, cut: number): number {
  return isLowSurrogate(text.charCodeAt(cut)) ? cut + 1 : cut;
}

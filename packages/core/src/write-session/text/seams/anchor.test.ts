import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Anchor } from './anchor.ts';
import { TAIL_WINDOW } from '../content-summary.ts';
import { inkOf } from '../lines.ts';
import { anchorFor } from '../testing/continuation.ts';
import { cutDocument, distinctDocuments, repetitiveDocuments } from '../testing/documents.ts';

/** Hazard: an anchor that is not unique, not the end of what is saved, or too long to be repeated. */

const LONG = Array.from({ length: 200 }, (_, index) => `"key ${index}": ${index}`).join(', ');

const CASES: readonly {
  readonly rule: string;
  readonly saved: string;
  readonly anchor: Partial<Anchor>;
}[] = [
  {
    rule: '2: at least 2 non-blank lines and 24 ink (A4)',
    saved: Array.from(
      { length: 30 },
      (_, index) => `row ${String(index + 1).padStart(2, '0')}\n`,
    ).join(''),
    anchor: {
      kind: 'lines',
      lines: ['row 26', 'row 27', 'row 28', 'row 29', 'row 30'],
      openLine: '',
      repetitive: false,
      whole: false,
    },
  },
  {
    rule: '2: it ends at the last non-blank whole line; blank lines and the open line are not part of it',
    saved: 'zero\na first line of some length\na second line of some length\n\n\nopen',
    anchor: {
      lines: ['a first line of some length', 'a second line of some length'],
      openLine: 'open',
    },
  },
  {
    rule: '2: long enough to be unique',
    saved:
      'x one\nthe line before both\nthe very same line\ny two\nthe line before both\nthe very same line\n',
    anchor: { lines: ['y two', 'the line before both', 'the very same line'], repetitive: false },
  },
  {
    rule: '2: unique because of the open line that follows',
    saved:
      'the line before both\nthe very same line\nthis\nthe line before both\nthe very same line\nthat',
    anchor: { lines: ['the line before both', 'the very same line'], openLine: 'that' },
  },
  {
    rule: '2: all of what is saved, however little',
    saved: '\n# T\n',
    anchor: { kind: 'lines', lines: ['# T'], openLine: '', whole: true },
  },
  {
    rule: '2: all of it without a whole line',
    saved: 'import { a',
    anchor: { kind: 'lines', lines: [], openLine: 'import { a', whole: true },
  },
  {
    rule: '2: a trailing CR counts as not yet stored',
    saved: 'import { a\r',
    anchor: { kind: 'lines', lines: [], openLine: 'import { a' },
  },
  {
    rule: '2: otherwise the longest run, repetitive',
    saved: 'the same line\n'.repeat(100),
    anchor: {
      kind: 'lines',
      lines: Array.from({ length: 24 }, () => 'the same line'),
      repetitive: true,
      whole: false,
    },
  },
  {
    rule: '3: too little ink for that',
    saved: '{\n'.repeat(1_000),
    anchor: { kind: 'characters', repetitive: true, inOpenLine: false },
  },
  {
    rule: '3: an open line of more than 400 characters',
    saved: `[\n${LONG}`,
    anchor: { kind: 'characters', repetitive: false, inOpenLine: true },
  },
  {
    rule: '3: whole lines that are too long to be repeated',
    saved: `first\n${'word '.repeat(300)}1\n${'word '.repeat(300)}2\n`,
    anchor: { kind: 'characters', repetitive: false, inOpenLine: false },
  },
  {
    rule: '3: nothing unique within 960 characters',
    saved: 'a'.repeat(5_000),
    anchor: { kind: 'characters', text: 'a'.repeat(960), repetitive: true },
  },
];

test.each(CASES)('rule $rule', ({ saved, anchor }) => {
  expect(anchorFor(saved)).toMatchObject(anchor);
});

test(
  'A1 to A3: any anchor is the end of what is saved, bounded, and unique unless it says otherwise',
  { timeout: 60_000 },
  () => {
    fc.assert(
      fc.property(
        cutDocument(fc.oneof(distinctDocuments, repetitiveDocuments)),
        fc.integer({ min: 0, max: 3 }),
        ({ saved }, copies) => {
          const content = saved.repeat(copies + 1);
          const anchor = anchorFor(content);
          const body = content.replace(/\r$/u, '');
          if (anchor.kind === 'characters') {
            const end = anchor.inOpenLine ? body : body.trimEnd();
            expect(end.endsWith(anchor.inOpenLine ? anchor.text : anchor.text.trimEnd())).toBe(
              true,
            );
            expect(anchor.text.length).toBeLessThanOrEqual(960);
            expect(anchor.text.trimStart()).toBe(anchor.text);
            if (!anchor.repetitive) {
              const window = content.slice(-TAIL_WINDOW);
              expect(window.indexOf(anchor.text)).toBe(window.lastIndexOf(anchor.text));
            }
            return;
          }
          expect(body.endsWith(anchor.openLine)).toBe(true);
          expect(anchor.openLine.length).toBeLessThanOrEqual(400);
          if (anchor.lines.length === 0) return;
          const quoted = `${anchor.lines.join('\n')}\n`;
          expect(quoted.length).toBeLessThanOrEqual(2_000);
          expect(anchor.lines.length).toBeLessThanOrEqual(24);
          const before = body.slice(0, body.length - anchor.openLine.length).trimEnd();
          expect(before.endsWith(quoted.trimEnd())).toBe(true);
          if (!anchor.whole && !anchor.repetitive) {
            expect(inkOf(quoted)).toBeGreaterThanOrEqual(24);
            const open = anchor.openLine.trim();
            const places = placesOf(`\n${body}`, `\n${quoted}`).filter((rest) =>
              rest.trimStart().startsWith(open),
            );
            expect(places).toHaveLength(1);
          }
        },
      ),
      { numRuns: 2_000 },
    );
  },
);

/** What follows each occurrence, overlapping ones too. */
function placesOf(text: string, part: string): readonly string[] {
  const places: string[] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1))
    places.push(text.slice(at + part.length));
  return places;
}

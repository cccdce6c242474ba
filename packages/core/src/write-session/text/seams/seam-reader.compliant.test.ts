import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anchorFor, anchorStart, joinedContent, readReply } from '../testing/continuation.ts';
import { cutDocument, distinctDocuments, repetitiveDocuments } from '../testing/documents.ts';
import { inkOf } from '../lines.ts';
import { MIN_ANCHOR_INK } from './anchor.ts';
import { splitAt } from '../testing/splits.ts';

/** Hazard: a reply that does as it is asked is refused, or is joined with a character too many or too few. */

const cuts = fc.array(fc.nat({ max: 100_000 }), { maxLength: 6 });

test(
  'a reply that repeats the anchor and goes on is verified, at every cut and division (R047 rules 2 to 5)',
  { tags: ['long'], timeout: 60_000 },
  () => {
    fc.assert(
      fc.property(cutDocument(distinctDocuments), cuts, ({ document, saved }, places) => {
        const reply = document.text.slice(anchorStart(saved, anchorFor(saved)));
        const pieces = splitAt(
          reply,
          places.map((place) => place % (reply.length + 1)),
        );
        const verdict = readReply(saved, pieces, { kind: document.kind });
        expect(verdict).toMatchObject({ kind: 'verified' });
        expect(joinedContent(saved, verdict)).toBe(document.text);
        expect(readReply(saved, reply, { kind: document.kind })).toEqual(verdict);
      }),
      { numRuns: 1_500 },
    );
  },
);

test('where the open line begins a later line too, behind what may be chat, it is asked again (S2)', () => {
  const saved = 'A sentence about Socket is So';
  const reply = (second: string): string =>
    `A sentence about Socket is Socket. (0)\n\n${second}\nA sentence about Socket is Socket. (2)\n`;
  expect(readReply(saved, reply('A sentence about x.'), { kind: 'markdown' })).toEqual({
    kind: 'hopeless',
    reason: 'several_alignments',
  });
  expect(readReply(saved, reply('a sentence about x'), { kind: 'markdown' })).toMatchObject({
    kind: 'verified',
    via: 'anchor',
    rest: reply('a sentence about x').slice(saved.length),
  });
});

test('where the rest of the document is how the anchor begins, it is asked again (rule 6)', () => {
  const saved = Array.from({ length: 60 }, (_, index) => `"${index} two words"`).join(',');
  const anchor = anchorFor(saved);
  if (anchor.kind !== 'characters') throw new Error('a line of this length is quoted in part');
  const verdictOn = (rest: string) => readReply(saved, anchor.text + rest, { kind: 'code' });
  // So much of it could be a second quotation that was cut off.
  const [few, enough] = [anchor.text.slice(0, 20), anchor.text.slice(0, 60)];
  expect([inkOf(few) < MIN_ANCHOR_INK, inkOf(enough) < MIN_ANCHOR_INK]).toEqual([true, false]);
  expect(verdictOn(few)).toMatchObject({ kind: 'verified', rest: few });
  expect(verdictOn(enough)).toEqual({ kind: 'hopeless', reason: 'anchor_repeated' });
  expect(verdictOn(`${enough}!`)).toMatchObject({ kind: 'verified', rest: `${enough}!` });
});

test(
  'in repetitive content it is verified or asked again, never joined wrongly (rules 5 and 6)',
  { tags: ['long'], timeout: 60_000 },
  () => {
    let verified = 0;
    fc.assert(
      fc.property(cutDocument(repetitiveDocuments), ({ document, saved }) => {
        const reply = document.text.slice(anchorStart(saved, anchorFor(saved)));
        const verdict = readReply(saved, reply, { kind: document.kind });
        if (verdict.kind === 'verified') verified += 1;
        else
          expect(verdict).toMatchObject({
            kind: 'hopeless',
            reason: expect.stringMatching(/^(?:several_alignments|anchor_repeated)$/u),
          });
        expect([null, document.text]).toContain(joinedContent(saved, verdict));
      }),
      { numRuns: 1_000 },
    );
    // Where a run of equal lines goes on, the reply is asked again: a model loses count there.
    expect(verified).toBeGreaterThan(100);
  },
);

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anchorFor, anchorStart, joinedContent, readReply } from '../testing/continuation.ts';
import { cutDocument, distinctDocuments, repetitiveDocuments } from '../testing/documents.ts';
import { splitAt } from '../testing/splits.ts';

/** Hazard: a reply that does as it is asked is refused, or is joined with a character too many or too few. */

const cuts = fc.array(fc.nat({ max: 100_000 }), { maxLength: 6 });

test('a reply that repeats the anchor and goes on is verified, at every cut and division (R047 rules 2 to 5)', () => {
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
}, 60_000);

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

test('in repetitive content it is verified or asked again, never joined wrongly (rules 5 and 6)', () => {
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
}, 60_000);

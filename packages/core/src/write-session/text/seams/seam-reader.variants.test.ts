import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inkOf } from '../lines.ts';
import {
  anchorFor,
  anchorStart,
  joinedContent,
  linesBefore,
  nextLineStart,
  readReply,
} from '../testing/continuation.ts';
import {
  cutDocument,
  distinctDocuments,
  repetitiveDocuments,
  type GeneratedDocument,
} from '../testing/documents.ts';
import { splitAt } from '../testing/splits.ts';

/**
 * Hazard: a reply that does something else than it was asked is joined wrongly, which nobody would notice.
 *
 * Each variant is played on thousands of cuts; what must never happen is a verified join with other content than
 * the document's.
 */

type Case = { readonly document: GeneratedDocument; readonly saved: string };

type Variant = {
  readonly name: string;
  /** Null: does not apply. */
  readonly reply: (this: void, given: Case) => string | null;
  /** The least share of verified replies among those of content with distinct lines. */
  readonly verified: number;
};

function compliant({ document, saved }: Case): string {
  return document.text.slice(anchorStart(saved, anchorFor(saved)));
}

function endingOf({ document }: Case): string {
  return document.text.includes('\r\n') ? '\r\n' : '\n';
}

const VARIANTS: readonly Variant[] = [
  { name: 'as asked', reply: compliant, verified: 1 },
  {
    name: 'three lines more',
    reply: (given) =>
      given.document.text.slice(
        linesBefore(given.saved, anchorStart(given.saved, anchorFor(given.saved)), 3),
      ),
    verified: 1,
  },
  { name: 'from the first line', reply: ({ document }) => document.text, verified: 0.99 },
  {
    name: 'blank lines first',
    reply: (given) => endingOf(given).repeat(2) + compliant(given),
    verified: 1,
  },
  {
    name: 'a polite sentence first',
    // Behind a sentence a few characters are not recognised.
    reply: (given) =>
      inkOf(given.saved) < 24
        ? null
        : `Sure, here is the rest of it:${endingOf(given).repeat(2)}${compliant(given)}`,
    verified: 0.99,
  },
  {
    name: 'two sentences and a fence',
    reply: (given) =>
      `Understood.\nHere is the rest:\n\n\`\`\`\`markdown\n${compliant(given)}${given.document.text.endsWith('\n') ? '' : '\n'}\`\`\`\`\n`,
    verified: 0.6,
  },
  {
    name: 'a fence around it',
    reply: (given) =>
      `\`\`\`\n${compliant(given)}${given.document.text.endsWith('\n') ? '' : '\n'}\`\`\`\n`,
    verified: 0.5,
  },
  {
    name: 'a fence that is never closed',
    reply: (given) => `\`\`\`text\n${compliant(given)}`,
    verified: 0.5,
  },
  {
    name: 'indentation of the first line lost',
    reply: (given) => compliant(given).replace(/^[ \t]+/u, ''),
    verified: 0.95,
  },
  {
    name: 'other line endings',
    reply: (given) => {
      const reply = compliant(given);
      // Without a line ending in what is saved nothing says what the file has.
      if (!given.saved.includes('\n')) return null;
      return reply.includes('\r\n')
        ? reply.replaceAll('\r\n', '\n')
        : reply.replaceAll('\n', '\r\n');
    },
    verified: 0.99,
  },
  {
    name: 'trailing blanks lost',
    reply: (given) => {
      const reply = compliant(given);
      return /[ \t]\r?\n/u.test(given.document.text.slice(given.saved.length)) ? null : reply;
    },
    verified: 1,
  },
  {
    name: 'quoted in a fence, then continued',
    reply: (given) => {
      const { document, saved } = given;
      if (!saved.endsWith('\n') || /\n\r?\n$/u.test(saved)) return null;
      const quoted = saved.slice(anchorStart(saved, anchorFor(saved)));
      return `\`\`\`\n${quoted}\`\`\`\n${document.text.slice(saved.length)}`;
    },
    verified: 0.1,
  },
  {
    name: 'quoted in tags, then continued',
    reply: (given) => {
      const { document, saved } = given;
      if (!saved.endsWith('\n') || /\n\r?\n$/u.test(saved)) return null;
      const quoted = saved.slice(anchorStart(saved, anchorFor(saved)));
      return `<tail-7f3a>\n${quoted}</tail-7f3a>\n${document.text.slice(saved.length)}`;
    },
    verified: 0.1,
  },
  {
    name: 'quoted, then begun again',
    reply: (given) => {
      if (!given.saved.endsWith('\n') || given.saved.length < 60) return null;
      const start = anchorStart(given.saved, anchorFor(given.saved));
      return `${given.saved.slice(start)}Here is the continuation:\n${given.document.text.slice(start)}`;
    },
    verified: 0,
  },
  {
    name: 'goes on at once',
    // Where the few characters that are saved come twice in a row, the reply is a right one for another file.
    reply: ({ document, saved }) =>
      inkOf(saved) < 24 && document.text.startsWith(saved, saved.length)
        ? null
        : document.text.slice(saved.length),
    verified: 0,
  },
  {
    name: 'goes on with the next line',
    // A few characters, all that is saved, begin many lines.
    reply: ({ document, saved }) =>
      inkOf(saved) < 24 ? null : document.text.slice(nextLineStart(document.text, saved.length)),
    verified: 0,
  },
  {
    name: 'one line of the anchor left out',
    reply: (given) => {
      const reply = compliant(given);
      const anchor = anchorFor(given.saved);
      if (anchor.kind !== 'lines' || anchor.lines.length < 3 || !given.saved.endsWith('\n'))
        return null;
      const lines = reply.split('\n');
      return [...lines.slice(0, 1), ...lines.slice(2)].join('\n');
    },
    verified: 0,
  },
  {
    name: 'something else',
    reply: () => 'I have finished writing the file.\nLet me know if you need more.\n',
    verified: 0,
  },
  { name: 'only a marker', reply: () => 'DONE\n', verified: 0 },
];

type Outcome = { verified: number; hopeless: number; other: number; wrong: string[] };

function play(documents: fc.Arbitrary<GeneratedDocument>, variant: Variant, runs: number): Outcome {
  const outcome: Outcome = { verified: 0, hopeless: 0, other: 0, wrong: [] };
  const places = fc.array(fc.nat({ max: 100_000 }), { maxLength: 4 });
  fc.assert(
    fc.property(cutDocument(documents), places, (given, cuts) => {
      const reply = variant.reply(given);
      if (reply === null) return;
      const { document, saved } = given;
      const pieces = splitAt(
        reply,
        cuts.map((place) => place % (reply.length + 1)),
      );
      const verdict = readReply(saved, pieces, { kind: document.kind });
      expect(verdict).toEqual(readReply(saved, reply, { kind: document.kind }));
      const joined = joinedContent(saved, verdict);
      if (joined === null) outcome[verdict.kind === 'hopeless' ? 'hopeless' : 'other'] += 1;
      else if (isSame(joined, document.text)) outcome.verified += 1;
      else
        outcome.wrong.push(
          JSON.stringify({
            name: document.name,
            saved: saved.slice(-200),
            reply: reply.slice(0, 600),
            verdict,
          }),
        );
    }),
    { numRuns: runs },
  );
  return outcome;
}

/** A fenced reply has to end its last line before the closing fence, whether the document does or not. */
function isSame(joined: string, text: string): boolean {
  return joined === text || joined === `${text}\n` || joined === `${text}\r\n`;
}

/** The others are played by `npm run test:long`. */
const SHARE: ReadonlySet<string> = new Set([
  'as asked',
  'a fence around it',
  'quoted in tags, then continued',
  'goes on at once',
  'one line of the anchor left out',
]);

for (const variant of VARIANTS) {
  const title = `${variant.name}: no silent error (R047, §1.4a rules 4 to 8)`;
  const tags = SHARE.has(variant.name) ? [] : ['long'];
  test(title, { tags, timeout: 60_000 }, () => {
    const outcome = play(distinctDocuments, variant, 400);
    expect(outcome.wrong).toEqual([]);
    const total = outcome.verified + outcome.hopeless + outcome.other;
    expect(outcome.verified).toBeGreaterThanOrEqual(variant.verified * total);
    // A reply that leaves out one of many equal lines cannot be told from one that is right.
    if (variant.verified > 0) expect(play(repetitiveDocuments, variant, 150).wrong).toEqual([]);
  });
}

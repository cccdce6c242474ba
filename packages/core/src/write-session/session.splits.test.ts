import fc from 'fast-check';
import { expect, test } from 'vitest';

import { SessionHarness } from './testing/session-harness.ts';
import type { HarnessOptions } from './testing/session-harness.ts';

/** S1, R025: the same text, however it is divided, gives the same content and the same outcome. */

const words = fc.constantFrom(
  'DONE',
  'DONE ',
  'DONE\t',
  'DONE 7f3a',
  'DONE 1234',
  'DONENESS',
  'Done.',
  '**DONE**',
  'done',
  ' DONE',
  '```',
  '```ts',
  '~~~',
  'Here it is:',
  'That is all.',
  'const a = 1;',
  'x',
  '',
  ' ',
  '日本語。',
  '🎉 ready!',
  '# Title',
  'row 1',
  'row 2',
  '\u2028',
  'a\rb',
);
const ending = fc.constantFrom('\n', '\n', '\n', '\r\n', '');
const text = fc
  .array(fc.tuple(words, ending), { minLength: 0, maxLength: 14 })
  .map((parts) => parts.map(([word, end]) => word + end).join(''));
const target = fc.constantFrom('a.ts', 'a.md', 'a.txt');
const cuts = fc.array(fc.nat(1000), { maxLength: 40 });

function divide(whole: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (whole.length + 1)))].sort((a, b) => a - b);
  const pieces: string[] = [];
  let start = 0;
  for (const place of [...at, whole.length]) {
    pieces.push(whole.slice(start, place));
    start = place;
  }
  return pieces;
}

async function outcome(
  options: HarnessOptions,
  messages: readonly (readonly string[])[],
): Promise<unknown> {
  const harness = new SessionHarness(options);
  for (const [index, pieces] of messages.entries()) {
    if (harness.file !== null) break;
    harness.message(
      pieces,
      index === 0 && messages.length > 1 ? { kind: 'length' } : { kind: 'stop' },
    );
    await harness.wait(2000);
  }
  const { content, file, aside, chat, state, prompts } = harness;
  return { content, file, aside, chat, state, prompts, seams: harness.session.seams };
}

test('R025: one message', async () => {
  await fc.assert(
    fc.asyncProperty(target, text, cuts, async (name, whole, places) => {
      const expected = await outcome({ target: name }, [[whole]]);
      expect(await outcome({ target: name }, [divide(whole, places)])).toEqual(expected);
      expect(await outcome({ target: name }, [whole.split('')])).toEqual(expected);
    }),
    { numRuns: 400 },
  );
});

test('R025, R047: a continuation after a length stop', async () => {
  await fc.assert(
    fc.asyncProperty(target, text, text, cuts, async (name, first, second, places) => {
      const expected = await outcome({ target: name }, [[first], [second]]);
      const divided = [divide(first, places), divide(second, places)];
      expect(await outcome({ target: name }, divided)).toEqual(expected);
      expect(await outcome({ target: name }, [first.split(''), second.split('')])).toEqual(
        expected,
      );
    }),
    { numRuns: 300 },
  );
});

test('S3: no text is lost: it is content, set aside, chat, held, or a marker', () => {
  fc.assert(
    fc.property(target, text, (name, whole) => {
      const harness = new SessionHarness({ target: name });
      harness.message(whole);
      const { contentStart, contentEnd, leadingBlanks } = harness.session;
      // What is left out of the content was copied aside.
      const content = Buffer.from(harness.content).subarray(contentStart, contentEnd ?? undefined);
      const kept = String(content) + harness.aside + harness.chat + leadingBlanks;
      const without = (value: string): string =>
        value.replaceAll(/DONE(?: [0-9a-f]{4})?/gu, '').replaceAll(/\s/gu, '');
      expect([...without(kept)].sort().join('')).toBe([...without(whole)].sort().join(''));
    }),
    { numRuns: 400 },
  );
});

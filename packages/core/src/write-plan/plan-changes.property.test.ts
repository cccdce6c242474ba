import { planOperations, planResult, planTexts } from '@orion/testkit';
import fc from 'fast-check';
import { expect, it } from 'vitest';

import { isRefused, planOn, resultOf } from './testing/memory-files.ts';

/** Hazard: a composition of ranges that is not what doing the operations one after the other gives. */

it('gives what the operations give one after the other, whatever the file and the chunks', async () => {
  await fc.assert(
    fc.asyncProperty(
      planTexts,
      fc.boolean(),
      fc.array(planOperations, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 9 }),
      async (text, crlf, operations, chunk) => {
        const base = crlf ? text.replaceAll('\n', '\r\n') : text;
        const expected = planResult(base, operations);
        const planned = await planOn(
          { 'a.txt': base },
          { intent: 'test', target_file: 'a.txt', operations },
          chunk,
        );
        expect(isRefused(planned)).toBe(expected === null);
        if (expected !== null) expect(await resultOf(planned)).toBe(expected);
      },
    ),
    { numRuns: 1500 },
  );
}, 60_000);

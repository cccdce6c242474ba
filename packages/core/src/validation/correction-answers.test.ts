/** Hazard: the answers of a program change other bytes than those it was asked about. */
import type { ByteSource } from '@orion/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { answeredCorrections } from './correction-answers.ts';
import { repairedText } from './repaired-text.ts';

const sourceOf = (bytes: Uint8Array): ByteSource =>
  async function* () {
    yield await Promise.resolve(bytes);
  };

async function textOf(source: ByteSource): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of source()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('latin1');
}

const NONE = { found: 2, rounds: [], replace: false };

describe('corrections of a program', () => {
  it('replace the bytes of their places, whatever their order', async () => {
    const bytes = Buffer.from('a\xffb\0c\xe2\x82', 'latin1');
    const answers = [
      { index: 3, text: '3' },
      { index: 1, text: 'one' },
    ];
    const corrections = await answeredCorrections(sourceOf(bytes), NONE, answers);
    expect(corrections).toEqual([
      { start: 1, end: 2, text: 'one' },
      { start: 5, end: 7, text: '3' },
    ]);
    const repair = { ...NONE, rounds: [corrections] };
    expect(await textOf(repairedText(sourceOf(bytes), repair))).toBe('aoneb\0c3');
    // The places of the next round are those of the text after this one.
    const next = await answeredCorrections(sourceOf(bytes), repair, [{ index: 1, text: '' }]);
    expect(next).toEqual([{ start: 5, end: 6, text: '' }]);
  });

  it.each([
    ['of no place', [{ index: 2, text: 'x' }], 'no such place was reported'],
    ['of place 0', [{ index: 0, text: 'x' }], 'no such place was reported'],
    ['of the 21st, which is not reported', [{ index: 21, text: 'x' }], 'no such place'],
    [
      'of one place twice',
      [
        { index: 1, text: 'x' },
        { index: 1, text: 'x' },
      ],
      'twice',
    ],
    ['with U+0000', [{ index: 1, text: 'a\0' }], 'its text is not valid'],
    ['with half a character', [{ index: 1, text: '\ud83d' }], 'its text is not valid'],
  ])('%s are refused', async (_name, answers, message) => {
    const bytes = Buffer.from(answers[0]?.index === 21 ? '\xff'.repeat(30) : 'a\xff', 'latin1');
    await expect(answeredCorrections(sourceOf(bytes), NONE, answers)).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(message) as string,
    });
  });

  it('of all places leave valid text', async () => {
    const bytes = fc.array(fc.constantFrom(0x61, 0x00, 0xff, 0xe2, 0x82, 0xac), { maxLength: 15 });
    await fc.assert(
      fc.asyncProperty(bytes, async (given) => {
        const source = sourceOf(Uint8Array.from(given));
        const one = await answeredCorrections(source, NONE, []);
        expect(one).toEqual([]);
        const answers: { index: number; text: string }[] = [];
        for (let index = 1; ; index += 1) {
          answers.push({ index, text: '.' });
          const known = await answeredCorrections(source, NONE, answers).catch(() => null);
          if (known !== null) continue;
          answers.pop();
          break;
        }
        const corrections = await answeredCorrections(source, NONE, answers);
        const repaired = repairedText(source, { ...NONE, rounds: [corrections] });
        const rest = await answeredCorrections(repaired, NONE, [{ index: 1, text: '' }]).catch(
          (error: unknown) => (error as Error).message,
        );
        expect(rest).toMatch(/no such place/u);
      }),
    );
  });
});

/** The bytes that wait for the disk: right at every split, and never changed under a reader. */
import { encodeWtf8 } from '@orion/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeldBytes } from './held-bytes.ts';

/** Larger than a block, of characters that do not fit its end evenly. */
const long = fc
  .tuple(fc.constantFrom('a', 'é\n', '€', '😀', '\ud83d'), fc.integer({ min: 1, max: 40_000 }))
  .map(([unit, count]) => unit.repeat(count));
const piece = fc.oneof(
  long,
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('\ud83d', '\ude00'),
);
type Step =
  | { readonly kind: 'append'; readonly text: string }
  | { readonly kind: 'durable'; readonly share: number }
  | { readonly kind: 'pin' }
  | { readonly kind: 'release' };
const step: fc.Arbitrary<Step> = fc.oneof(
  piece.map((text) => ({ kind: 'append' as const, text })),
  fc.double({ min: 0, max: 1, noNaN: true }).map((share) => ({ kind: 'durable' as const, share })),
  fc.constant({ kind: 'pin' as const }),
  fc.constant({ kind: 'release' as const }),
);

describe('bytes that wait for the disk', () => {
  it('are those of the text, whatever became durable meanwhile, and hold still while pinned', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const held = new HeldBytes();
        let text = '';
        const pins: { views: readonly Uint8Array[]; expected: Buffer; release: () => void }[] = [];
        const letGo = (): void => {
          const pin = pins.shift();
          if (pin === undefined) return;
          expect(Buffer.concat(pin.views).equals(pin.expected)).toBe(true);
          pin.release();
        };
        for (const { kind, ...rest } of steps) {
          const whole = encodeWtf8(text);
          if (kind === 'append' && 'text' in rest) {
            held.append(rest.text);
            text += rest.text;
          } else if (kind === 'durable' && 'share' in rest) {
            const target = held.start + Math.floor((held.end - held.start) * rest.share);
            held.markDurable(target);
            expect(held.start).toBe(target);
          } else if (kind === 'pin') {
            const from = held.start;
            const to = held.start + Math.ceil((held.length - held.start) / 2);
            const expected = Buffer.from(whole.subarray(from, to));
            pins.push({ ...held.pin(from, to), expected });
          } else {
            letGo();
          }
        }
        const whole = encodeWtf8(text);
        expect(held.length).toBe(whole.length);
        held.settle();
        const rest = Buffer.concat(held.views(held.start, held.end));
        expect(rest.equals(whole.subarray(held.start))).toBe(true);
        held.markDurable(held.end);
        expect(held.durableLineFeeds).toBe(text.split('\n').length - 1);
        while (pins.length > 0) letGo();
      }),
      { numRuns: 100 },
    );
  });

  it('lie in blocks that are used again, unless someone still reads them', () => {
    const held = new HeldBytes();
    const append = (): readonly Uint8Array[] => {
      held.append('x'.repeat(64 * 1024));
      return held.views(held.start, held.end);
    };
    const [first] = append();
    held.markDurable(held.end);
    const [second] = append();
    expect(second?.buffer).toBe(first?.buffer);
    const pin = held.pin(held.start, held.end);
    held.markDurable(held.end);
    const [third] = append();
    expect(third?.buffer).not.toBe(first?.buffer);
    pin.release();
  });
});

import { isUtf8 } from 'node:buffer';

import { expect, test } from 'vitest';

import { StoredText } from './stored-text.ts';

/** Hazard: a character that lies across the end of a piece is stored in two halves, neither of which is text. */

test('a piece ends between two characters', () => {
  const text = new StoredText(true);
  text.append(`a${'😀'.repeat(300_000)}`);
  const piece = text.take();
  expect(piece?.bytes.length).toBeGreaterThan(0);
  expect(piece?.bytes.length).toBeLessThan(text.end());
  expect(isUtf8(piece?.bytes ?? Buffer.of(0xff))).toBe(true);
});

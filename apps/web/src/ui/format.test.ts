import { expect, test } from 'vitest';

import { counted, formatAge, formatTime } from './format.ts';

test.each([
  [-5, '0 s'],
  [999, '0 s'],
  [1000, '1 s'],
  [61_000, '1 min 1 s'],
  [3_600_000, '1 h'],
  [3_725_000, '1 h 2 min'],
  [90_061_000, '1 d 1 h'],
])('%i ms is %s', (milliseconds, text) => {
  expect(formatAge(milliseconds)).toBe(text);
});

test('a time of another day has its date', () => {
  const now = new Date(2026, 10, 22, 9, 5).getTime();
  expect(formatTime(now, now)).toBe('09:05');
  expect(formatTime(now - 86_400_000, now)).toBe('Nov 21, 2026 09:05');
});

test('one is not several', () => {
  expect([counted(1, 'line'), counted(1200, 'line')]).toEqual(['1 line', '1,200 lines']);
});

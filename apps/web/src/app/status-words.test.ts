import { expect, it } from 'vitest';

import { statusWords } from './status-words.ts';

it('counts what there is, and nothing that there is not', () => {
  const words = (running: number, pending: number, unfinished: number): string =>
    statusWords('connected', { running, pending, unfinished });
  expect(words(0, 0, 0)).toBe('connected');
  expect(words(1, 0, 0)).toBe('connected · 1 running turn');
  expect(words(0, 1, 0)).toBe('connected · 1 pending approval');
  expect(words(0, 0, 1)).toBe('connected · 1 unfinished write');
  expect(words(2, 3, 4)).toBe(
    'connected · 2 running turns · 3 pending approvals · 4 unfinished writes',
  );
});

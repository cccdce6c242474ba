import { expect, it } from 'vitest';

import { createPromptHistory } from './prompt-history.ts';

it('keeps what was sent, once in a row, and nothing that begins with a blank or is blank', () => {
  const history = createPromptHistory();
  history.addOlder(['old', 'newer']);
  for (const prompt of ['newer', 'a', 'a', ' secret', '', '\n', 'b', 'a']) history.remember(prompt);
  expect(history.all()).toEqual(['a', 'b', 'newer', 'old']);
  history.addOlder(['first']);
  expect(history.all().at(-1)).toBe('first');
});

it('goes back, and forth to the draft; what was edited on the way is a draft of its own', () => {
  const history = createPromptHistory();
  history.addOlder(['one', 'two']);
  expect(history.next('draft')).toBeNull();
  expect(history.previous('draft')).toBe('two');
  expect(history.previous('two')).toBe('one');
  expect(history.previous('one')).toBeNull();
  expect(history.next('one')).toBe('two');
  expect(history.next('two')).toBe('draft');
  expect(history.next('draft')).toBeNull();

  expect(history.previous('draft')).toBe('two');
  expect(history.previous('two, edited')).toBe('two');
  expect(history.next('two')).toBe('two, edited');

  expect(history.previous('x')).toBe('two');
  history.remember('three');
  expect(history.previous('')).toBe('three');
});

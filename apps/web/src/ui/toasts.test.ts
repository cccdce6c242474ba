import { expect, test } from 'vitest';

import { MOST_KNOWN, Toasts } from './toasts.ts';

const toast = (id: string) => ({ id, text: id, show: () => undefined });

test('a toast is shown once, three at a time, and those of long ago are forgotten', () => {
  const toasts = new Toasts();
  const shown = (): readonly string[] => toasts.snapshot().map(({ id }) => id);
  for (const id of ['a', 'b', 'a', 'c', 'd']) toasts.add(toast(id));
  expect(shown()).toEqual(['a', 'b', 'c']);
  for (const id of ['a', 'b', 'c', 'd']) toasts.close(id);
  for (const id of ['a', 'b', 'c', 'd']) toasts.add(toast(id));
  expect(shown()).toEqual([]);
  for (let number = 4; number < MOST_KNOWN; number += 1) {
    toasts.add(toast(`${number}`));
    toasts.close(`${number}`);
  }
  toasts.add(toast('a'));
  expect(shown()).toEqual([]);
  toasts.add(toast('one too many'));
  toasts.close('one too many');
  toasts.add(toast('a'));
  expect(shown()).toEqual([]);
  toasts.add(toast('b'));
  expect(shown()).toEqual(['b']);
});

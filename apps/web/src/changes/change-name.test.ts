import { expect, it } from 'vitest';

import { changeName } from './change-name.ts';

it('tells changes of the same file in the same minute apart, by few letters', () => {
  const at = (id: string) => changeName('a.txt', id, '17:12');
  expect(at('20261123T171220123Z-0a1b2c3d')).toBe('a.txt, 17:12, change 0a1b2c3d');
  expect(at('20261123T171220123Z-0a1b2c3e')).toBe('a.txt, 17:12, change 0a1b2c3e');
  expect(changeName('a.txt', '62b4b5a8-5c3c-4a6f-9b50-aa29c5d0e1f2')).toBe(
    'a.txt, change c5d0e1f2',
  );
  expect(changeName('a\u202e.txt', 'c')).toBe('a\\u{202e}.txt, change c');
});

import { expect, it } from 'vitest';

import { defined } from './defined.ts';

it('keeps every value but undefined, in its order', () => {
  const fields = { b: 0, a: undefined, d: null, c: '', e: false };
  expect(JSON.stringify(defined(fields))).toBe('{"b":0,"d":null,"c":"","e":false}');
  expect('a' in defined(fields)).toBe(false);
});

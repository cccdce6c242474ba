import { expect, test } from 'vitest';

import { hasForbiddenHeader } from './argument-headers.ts';

const HEADER = 'x-mcp-header';
const inHeader = (name: unknown, type: unknown = 'string') => ({ type, [HEADER]: name });
const object = (properties: object) => ({ type: 'object', properties });

const ALLOWED = {
  'no header': object({ a: { type: 'string' } }),
  'the types that can be repeated': object({
    a: inHeader('A', 'boolean'),
    b: inHeader('B', 'integer'),
    c: inHeader("!#$%&'*+-.^_`|~09AZaz"),
  }),
  'an inner property': object({ a: object({ b: object({ c: inHeader('C') }) }) }),
  'a property of that name': object({ [HEADER]: { type: 'number' } }),
  values: object({
    a: { default: { [HEADER]: '' }, enum: [{ [HEADER]: '' }], const: { [HEADER]: 1 } },
  }),
  'no schema': true,
};

const FORBIDDEN = {
  'the arguments as a whole': { ...object({}), [HEADER]: 'A' },
  'no type': object({ a: { [HEADER]: 'A' } }),
  'a number': object({ a: inHeader('A', 'number') }),
  'two types': object({ a: inHeader('A', ['string', 'null']) }),
  'an empty name': object({ a: inHeader('') }),
  'no name': object({ a: inHeader(null) }),
  'a line end': object({ a: inHeader('A\r\nHost: b') }),
  'a trailing line end': object({ a: inHeader('A\n') }),
  'a space': object({ a: inHeader('A b') }),
  'a letter beyond ASCII': object({ a: inHeader('\u00E9') }),
  'one name twice': object({ a: inHeader('Region'), b: object({ c: inHeader('rEGION') }) }),
  'an item': object({ a: { type: 'array', items: inHeader('A') } }),
  'a property of an item': object({ a: { type: 'array', items: object({ b: inHeader('B') }) } }),
  'an alternative': { type: 'object', anyOf: [{}, object({ a: inHeader('A') })] },
  'a definition': { type: 'object', $defs: { a: inHeader('A') } },
  'any other property': { type: 'object', additionalProperties: inHeader('A') },
  'an unknown keyword': { type: 'object', later: { deep: [[inHeader('A')]] } },
};

test.for(Object.entries(ALLOWED))('allows %s', ([, schema]) => {
  expect(hasForbiddenHeader(schema)).toBe(false);
});

test.for(Object.entries(FORBIDDEN))('forbids a header for %s', ([, schema]) => {
  expect(hasForbiddenHeader(schema)).toBe(true);
});

import fc from 'fast-check';
import { expect, test } from 'vitest';

import { classifyArguments } from './tool-arguments.ts';

const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue(), {
  noNullPrototype: true,
});

test('the text of an object is complete, and every beginning of it is cut', () => {
  fc.assert(
    fc.property(objects, fc.constantFrom(undefined, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(classifyArguments(text)).toBe('complete');
      expect(classifyArguments(`${text}  \n`)).toBe('complete');
      for (let end = 1; end < text.length; end += 1) {
        expect(classifyArguments(text.slice(0, end)), text.slice(0, end)).toBe('cut');
      }
    }),
    { numRuns: 20 },
  );
});

test('anything after the object makes it malformed', () => {
  fc.assert(
    fc.property(objects, fc.constantFrom('}', '{', ',', 'x', '"', '1', ']'), (value, more) => {
      expect(classifyArguments(JSON.stringify(value) + more)).toBe('malformed');
    }),
  );
});

test.for([
  ['', 'cut'],
  [' ', 'cut'],
  ['{"a":tru', 'cut'],
  ['{"a":-', 'cut'],
  ['{"a":1.5e', 'cut'],
  ['{"a":"\\u00', 'cut'],
  ['{"a":"\\', 'cut'],
  ['{"a":trux', 'malformed'],
  ['{"a":01', 'malformed'],
  ['{"a":"\\x', 'malformed'],
  ['{"a":"\\u00g', 'malformed'],
  ['{"a":"line\nend', 'malformed'],
  ["{'a'", 'malformed'],
  ['{,', 'malformed'],
  ['{"a" 1', 'malformed'],
  ['{"a":1,}', 'malformed'],
  ['{"a":[1,]', 'malformed'],
  ['{"a":[1}', 'malformed'],
  ['null', 'malformed'],
  ['[', 'malformed'],
  ['text', 'malformed'],
] as const)('%j is %s', ([text, state]) => {
  expect(classifyArguments(text)).toBe(state);
});

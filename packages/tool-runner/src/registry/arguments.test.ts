import { OrionError } from '@orion/contracts';
import { toolCall } from '@orion/testkit';
import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_ARGUMENT_BYTES, parseArguments } from './arguments.ts';

const refusalOf = (
  text: string,
  state: 'complete' | 'cut' | 'malformed' = 'complete',
  limit?: number,
) => {
  try {
    parseArguments(toolCall('1', 't', text, state), limit ?? MAX_ARGUMENT_BYTES);
  } catch (error) {
    if (OrionError.isInstance(error)) return error;
    throw error;
  }
  throw new Error('The arguments were taken');
};

test('gives back any JSON object as it is', () => {
  fastCheck.assert(
    fastCheck.property(
      fastCheck.dictionary(fastCheck.string(), fastCheck.jsonValue({ maxDepth: 6 })),
      (value) => {
        const text = JSON.stringify(value);
        fastCheck.pre(!text.includes('__proto__'));
        expect(parseArguments(toolCall('1', 't', text), MAX_ARGUMENT_BYTES)).toEqual(
          JSON.parse(text),
        );
      },
    ),
  );
});

test('no start of an object is ever taken for an object (R131)', () => {
  const text = JSON.stringify({ path: 'a "quoted" \\ é', list: [1, { a: null }] });
  for (let length = 1; length < text.length; length++) {
    for (const state of ['complete', 'cut', 'malformed'] as const) {
      const error = refusalOf(text.slice(0, length), state);
      expect(error.code).toBe('INVALID_TOOL_ARGUMENTS');
      expect(error.details).toMatchObject({ length });
    }
  }
});

test('says where the text stops being JSON', () => {
  expect(refusalOf('{"a": x}').details).toEqual({ length: 8, position: 6 });
  expect(refusalOf('{"a": 1').message).toContain('at position 7');
  expect(refusalOf('{"a": "b', 'cut').message).toContain(
    '(8 characters) end before their JSON does',
  );
  expect(refusalOf('{"a": x}', 'malformed').details).toEqual({ length: 8, position: 6 });
});

test('nothing but empty arguments of a complete call is an empty object (R147)', () => {
  expect(parseArguments(toolCall('1', 't', ' \n'), 100)).toEqual({});
  expect(refusalOf('', 'cut').code).toBe('INVALID_TOOL_ARGUMENTS');
  expect(refusalOf('null').code).toBe('INVALID_TOOL_ARGUMENTS');
});

test('counts bytes, not characters, and does so before anything else', () => {
  expect(refusalOf('"ä"', 'complete', 3).code).toBe('ARGUMENTS_TOO_LARGE');
  expect(refusalOf('x'.repeat(101), 'malformed', 100)).toMatchObject({
    code: 'ARGUMENTS_TOO_LARGE',
    message: 'The arguments have 101 characters; at most 100 bytes are allowed',
    details: { length: 101, max_bytes: 100 },
  });
  expect(parseArguments(toolCall('1', 't', '{}'), 2)).toEqual({});
});

test('refuses what is nested too deep, and brackets inside texts do not count', () => {
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  expect(parseArguments(toolCall('1', 't', nested(31)), 1000)).toHaveProperty('a');
  expect(refusalOf(nested(32)).message).toContain('nested deeper than 32');
  expect(refusalOf(nested(500_000)).message).toContain('nested deeper');
  const brackets = JSON.stringify({ a: `"${'['.repeat(100)}\\` });
  expect(parseArguments(toolCall('1', 't', brackets), 1000)).toHaveProperty('a');
});

test('refuses a key that would change a prototype', () => {
  expect(refusalOf('{"a":[{"__proto__":{"x":1}}]}').message).toContain('__proto__');
});

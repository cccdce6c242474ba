import type { JsonObject } from '@orion/contracts';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { argumentsSchema, findViolations, sanitizeSchema } from './schema.ts';

/** Flat, without alternatives and bounds: what providers can hold a model to. */
const PLAIN: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['kind'],
  properties: {
    kind: { type: 'string', enum: ['a', 'b'] },
    // Names of properties are not keywords.
    if: { type: 'string' },
    minimum: { type: 'number' },
    nested: { type: 'object', properties: { anyOf: {} }, additionalProperties: false },
    list: { type: 'array', items: { type: 'string' } },
    anything: {},
  },
  additionalProperties: false,
};

test('R216: a schema that can be held to comes back equal', () => {
  expect(sanitizeSchema(PLAIN)).toEqual(PLAIN);
  expect(findViolations(PLAIN)).toEqual([]);
});

const RICH: JsonObject = {
  type: 'object',
  properties: {
    count: {
      type: 'integer',
      minimum: 1,
      exclusiveMaximum: 9,
      multipleOf: 2,
      description: 'how many',
    },
    either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    'a/b~c': { type: ['object', 'null'], properties: { deep: { type: 'object' } } },
    fixed: { const: { anyOf: ['data', 'and no schema'] }, default: { minimum: 3 } },
  },
  $defs: { part: { type: 'object', allOf: [{ required: ['x'] }], unevaluatedProperties: false } },
  if: { required: ['count'] },
  // oxlint-disable-next-line unicorn/no-thenable -- it is a keyword of JSON Schema
  then: { required: ['either'] },
  else: {},
  dependentSchemas: { count: {} },
};

test('R217: violations are listed by their JSON pointers', () => {
  expect(
    findViolations(RICH)
      .map(({ pointer }) => pointer)
      .toSorted(),
  ).toEqual(
    [
      '',
      '/properties/count/minimum',
      '/properties/count/exclusiveMaximum',
      '/properties/count/multipleOf',
      '/properties/either/oneOf',
      '/properties/a~1b~0c',
      '/properties/a~1b~0c/properties/deep',
      '/$defs/part',
      '/$defs/part/allOf',
      '/$defs/part/unevaluatedProperties',
      '/if',
      '/then',
      '/else',
      '/dependentSchemas',
    ].toSorted(),
  );
});

test('R216: what cannot be held to is taken out, and objects are closed', () => {
  expect(sanitizeSchema(RICH)).toEqual({
    type: 'object',
    properties: {
      count: { type: 'integer', description: 'how many' },
      either: {},
      'a/b~c': {
        type: ['object', 'null'],
        properties: { deep: { type: 'object', additionalProperties: false } },
        additionalProperties: false,
      },
      fixed: { const: { anyOf: ['data', 'and no schema'] }, default: { minimum: 3 } },
    },
    $defs: { part: { type: 'object', additionalProperties: false } },
    additionalProperties: false,
  });
});

const leaf = fc.record(
  {
    type: fc.constantFrom('object', 'string', 'array'),
    minimum: fc.integer(),
    additionalProperties: fc.boolean(),
    enum: fc.constant([{ oneOf: 1 }]),
  },
  { requiredKeys: [] },
);
const schemaOfDepth = (depth: number): fc.Arbitrary<JsonObject> => {
  if (depth === 0) return leaf as unknown as fc.Arbitrary<JsonObject>;
  const inner = schemaOfDepth(depth - 1);
  const parts = fc.record(
    {
      properties: fc.dictionary(fc.constantFrom('a', 'if', 'minimum'), inner, { maxKeys: 2 }),
      items: inner,
      anyOf: fc.array(inner, { maxLength: 2 }),
      if: inner,
    },
    { requiredKeys: [] },
  );
  return fc.tuple(leaf, parts).map(([own, more]) => ({ ...own, ...more }) as unknown as JsonObject);
};
const schema = schemaOfDepth(3);

test('R216, R217: a sanitised schema has no violations, and sanitising it again changes nothing', () => {
  fc.assert(
    fc.property(schema, (given) => {
      const sanitized = sanitizeSchema(given);
      expect(findViolations(sanitized)).toEqual([]);
      expect(sanitizeSchema(sanitized)).toEqual(sanitized);
      if (findViolations(given).length === 0) expect(sanitized).toEqual(given);
    }),
  );
});

test('arguments are one object at the top, and keep their alternatives below', () => {
  expect(
    argumentsSchema({
      anyOf: [],
      not: { required: ['a'] },
      properties: {
        a: { oneOf: [{ type: ['array', 'null'] }, { type: 'array', items: { type: 'string' } }] },
        type: { type: 'object', default: { type: 'array' } },
      },
    }),
  ).toEqual({
    type: 'object',
    properties: {
      a: {
        oneOf: [
          { type: ['array', 'null'], items: {} },
          { type: 'array', items: { type: 'string' } },
        ],
      },
      type: { type: 'object', default: { type: 'array' } },
    },
  });
});

test('the properties of alternatives at the top are named, with what all of them require', () => {
  const kind = (name: string) => ({ type: 'string', const: name });
  const circle = {
    type: 'object',
    properties: { kind: kind('circle'), name: { type: 'string' }, radius: { type: 'number' } },
    required: ['kind', 'name', 'radius'],
  };
  const square = {
    type: 'object',
    properties: { kind: kind('square'), name: { type: 'string' }, sides: { type: 'array' } },
    required: ['kind', 'sides', 'name'],
  };
  const expected = {
    type: 'object',
    properties: {
      kind: { anyOf: [kind('circle'), kind('square')] },
      name: { type: 'string' },
      radius: { type: 'number' },
      sides: { type: 'array', items: {} },
    },
    required: ['kind', 'name'],
  };
  expect(argumentsSchema({ anyOf: [circle, square] })).toEqual(expected);
  expect(argumentsSchema({ oneOf: [circle, square] })).toEqual(expected);
  const $defs = { Circle: circle, Square: { allOf: [square] } };
  const references = [{ $ref: '#/$defs/Circle' }, { $ref: '#/$defs/Square' }];
  expect(argumentsSchema({ oneOf: references, $defs })).toMatchObject(expected);
  expect(
    argumentsSchema({
      type: 'object',
      properties: { a: {}, b: {} },
      required: ['a'],
      anyOf: [{ required: ['b'] }, { required: ['a'] }],
      allOf: [circle],
    }),
  ).toEqual({
    type: 'object',
    properties: { a: {}, b: {}, ...circle.properties },
    required: ['a', 'kind', 'name', 'radius'],
  });
});

test('alternatives that refer to themselves end', () => {
  const $defs = { Self: { properties: { a: {} }, anyOf: [{ $ref: '#/$defs/Self' }] } };
  expect(
    argumentsSchema({ $ref: '#/$defs/Self', anyOf: [{ $ref: '#/$defs/Self' }], $defs }),
  ).toMatchObject({ type: 'object', properties: { a: {} } });
});

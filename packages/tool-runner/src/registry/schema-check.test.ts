import { OrionError } from '@orion/contracts';
import type { JsonObject, PatternMatcher } from '@orion/contracts';
import { describe, expect, test } from 'vitest';

import { createSchemaCheck } from './schema-check.ts';
import { readSchema } from './schema-document.ts';

/** Hazard: arguments run a tool although its schema forbids them, or a schema of somebody else holds everything up (B26). */

/** Matches at once, as the thread does for expressions that end. */
const MATCHER: PatternMatcher = {
  open: (pattern) => {
    if (pattern === '(a+)+$') {
      const late = new OrionError({
        code: 'MARKER_TIMEOUT',
        message: 'It took longer than 250 ms.',
      });
      return Promise.resolve({ match: () => Promise.reject(late), close: () => Promise.resolve() });
    }
    return Promise.resolve({
      match: (lines) =>
        Promise.resolve({
          count: lines.filter((line) => new RegExp(pattern, 'u').test(line)).length,
          matches: [],
        }),
      close: () => Promise.resolve(),
    });
  },
};

/** What is wrong, or `ok`. */
async function checked(schema: JsonObject, args: JsonObject): Promise<string> {
  try {
    const document = readSchema({ type: 'object', ...schema });
    await createSchemaCheck('probe', document, MATCHER)(args);
    return 'ok';
  } catch (error) {
    if (!OrionError.isInstance(error)) throw error;
    expect(error.code).toBe('INVALID_TOOL_ARGUMENTS');
    return error.message.replace('The arguments of probe do not fit: ', '');
  }
}

test.for<[name: string, schema: JsonObject, good: JsonObject, bad: JsonObject, why: string]>([
  [
    'a type',
    { properties: { a: { type: 'integer' } } },
    { a: 1 },
    { a: 'x' },
    'a: Instance type "string" is invalid. Expected "integer"',
  ],
  [
    'what is required',
    { required: ['a'] },
    { a: null },
    {},
    'Instance does not have required property "a"',
  ],
  [
    'nothing more than is named',
    { properties: { a: true }, additionalProperties: false },
    { a: 1 },
    { a: 1, b: 2 },
    'Property "b" does not match additional properties schema',
  ],
  [
    'one of several',
    { properties: { a: { oneOf: [{ type: 'number' }, { multipleOf: 2 }] } } },
    { a: 3 },
    { a: 4 },
    'a: Instance does not match exactly one subschema (2 matches)',
  ],
  [
    'not',
    { properties: { a: { not: { type: 'string' } } } },
    { a: 1 },
    { a: 'x' },
    'a: Instance matched "not" schema',
  ],
  [
    'if, then and else',
    {
      if: { properties: { kind: { const: 'file' } }, required: ['kind'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['path'] },
      else: { required: ['url'] },
    },
    { kind: 'file', path: 'a' },
    { kind: 'file', url: 'a' },
    'Instance does not have required property "path"',
  ],
  [
    'what was not evaluated',
    {
      allOf: [{ properties: { a: true } }],
      anyOf: [{ properties: { b: true }, required: ['b'] }, true],
      unevaluatedProperties: false,
    },
    { a: 1, b: 2 },
    { a: 1, c: 3 },
    'Property "c" does not match unevaluated properties schema',
  ],
  [
    'a reference inside of the document',
    { $defs: { 'a/b': { enum: ['x'] } }, properties: { a: { $ref: '#/$defs/a~1b' } } },
    { a: 'x' },
    { a: 'y' },
    'a: Instance does not match any of ["x"]',
  ],
  [
    'a reference to itself',
    {
      properties: { next: { $ref: '#' }, value: { type: 'number' } },
      additionalProperties: false,
    },
    { next: { next: { value: 1 } } },
    { next: { next: { value: 'x' } } },
    'next.next.value: Instance type "string" is invalid. Expected "number"',
  ],
  [
    'an anchor',
    { $defs: { a: { $anchor: 'here', minLength: 2 } }, properties: { a: { $ref: '#here' } } },
    { a: 'xy' },
    { a: 'x' },
    'a: String is too short (1 < 2)',
  ],
  [
    'items and those behind a prefix',
    { properties: { a: { prefixItems: [{ type: 'string' }], items: false } } },
    { a: ['x'] },
    { a: ['x', 'y'] },
    'a.1: may not be there',
  ],
  [
    'items that differ',
    { properties: { a: { uniqueItems: true } } },
    { a: [1, 2] },
    { a: [1, 1] },
    'a: Duplicate items at indexes 0 and 1',
  ],
  [
    'an expression',
    { properties: { a: { pattern: '^x+$' }, b: { pattern: 'y' } } },
    { a: 'xx', b: 'ay' },
    { a: 'xy', b: 'ay' },
    'a: String does not match pattern',
  ],
  [
    'an expression that fits nothing, within not',
    { properties: { a: { not: { pattern: '^never$' } } } },
    { a: 'x' },
    { a: 'never' },
    'a: Instance matched "not" schema',
  ],
  [
    'names that expressions fit, of which two fit the same',
    {
      patternProperties: { '^a': { type: 'number' }, a$: { minimum: 2 } },
      additionalProperties: false,
    },
    { a: 2, ab: 1 },
    { a: 1, ab: 1 },
    'a: 1 is less than 2',
  ],
  [
    'names that no expression fits',
    { patternProperties: { '^a': true }, unevaluatedProperties: false },
    { ab: 1 },
    { ab: 1, 'b.*': 2 },
    'Property "b.*" does not match unevaluated properties schema',
  ],
  [
    'names with what an expression would read',
    { propertyNames: { pattern: '^[$(]' } },
    { '$(a|b)[': 1 },
    { 'a$(': 1 },
    'String does not match pattern',
  ],
  [
    'what depends on another',
    { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] } } },
    { a: 1, b: 1, c: 1, d: 1 },
    { a: 1 },
    'Instance has "a" but does not have "b"',
  ],
])('%s', async ([, schema, good, bad, why]) => {
  expect(await checked(schema, good)).toBe('ok');
  expect(await checked(schema, bad)).toContain(why);
});

test('names five of the things that are wrong, and counts the others', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const args = Object.fromEntries(names.map((name) => [name, 1]));
  const message = await checked({ additionalProperties: { type: 'string' } }, args);
  expect(message).toMatch(/; and \d+ more$/);
  expect(message.split('; ')).toHaveLength(6);
});

test('annotations decide nothing, and words of other dialects neither', async () => {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'https://127.0.0.1/probe',
    title: 't',
    description: 'd',
    default: { pattern: '(' },
    examples: [{ $ref: 'https://127.0.0.1/x' }],
    'x-own': { $id: '::', $ref: 'x' },
    properties: { pattern: { type: 'string', format: 'email' }, $ref: { const: { pattern: '(' } } },
  };
  expect(await checked(schema, { pattern: 'no address', $ref: { pattern: '(' } })).toBe('ok');
});

test('a check changes neither the schema nor the arguments', async () => {
  const schema = readSchema({
    type: 'object',
    properties: { a: { $ref: '#/$defs/b' } },
    $defs: { b: { pattern: 'x' } },
  });
  const before = JSON.stringify(schema.schema);
  const args = Object.freeze({ a: 'x' });
  const check = createSchemaCheck('probe', schema, MATCHER);
  await check(args);
  await check(args);
  expect(JSON.stringify(schema.schema)).toBe(before);
});

const nest = (depth: number): JsonObject => {
  let schema: JsonObject = {};
  for (let level = 0; level < depth; level += 1) schema = { not: schema };
  return { type: 'object', ...schema };
};

describe('a schema that cannot be read', () => {
  test.for<[string, JsonObject, string]>([
    ['no object', { type: 'array' }, 'its schema does not describe an object'],
    [
      'a keyword with a wrong value',
      { properties: { a: { minimum: 'x' } } },
      'its schema at "/properties/a/minimum" is not a valid value',
    ],
    [
      'a type that there is not',
      { properties: { a: { type: 'text' } } },
      'its schema at "/properties/a/type" is not',
    ],
    ['no schema', { properties: { a: 7 } }, 'its schema at "/properties/a" is not a schema'],
    ['no names', { properties: ['a'] }, 'its schema at "/properties" is not an object of schemas'],
    ['no list', { allOf: [] }, 'its schema at "/allOf" is not a list of schemas'],
    ['another document', { $ref: 'file:///etc/passwd' }, 'its schema refers to another document'],
    [
      'a reference to nowhere',
      { $ref: '#/$defs/none' },
      'its schema refers to "#/$defs/none", which it does not have',
    ],
    [
      'a document inside',
      { properties: { a: { $id: 'https://127.0.0.1/a' } } },
      'its schema at "/properties/a" is a document of its own',
    ],
    ['a reference that moves', { $dynamicRef: '#a' }, 'its schema uses $dynamicRef'],
    ['too deep', nest(65), 'its schema is nested deeper than 64 levels'],
    ['100,000 levels deep', nest(100_000), 'its schema is nested deeper than 64 levels'],
    [
      'too many parts',
      { allOf: Array.from({ length: 5001 }, () => true) },
      'its schema has more than 5000 parts',
    ],
    ['too long', { enum: ['x'.repeat(300_000)] }, 'its schema is longer than 262144 characters'],
    [
      'too many expressions',
      { allOf: Array.from({ length: 33 }, (_, index) => ({ pattern: `a${index}` })) },
      'its schema has more than 32 expressions',
    ],
  ])('%s', ([, schema, why]) => {
    expect(() => readSchema({ type: 'object', ...schema })).toThrow(why);
  });

  test('64 levels are read', () => {
    expect(readSchema(nest(64)).size).toBe(65);
  });
});

describe('work that has no end', () => {
  test('a schema that doubles with each level', async () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [
        `d${index}`,
        index === 39
          ? {}
          : { allOf: [{ $ref: `#/$defs/d${index + 1}` }, { $ref: `#/$defs/d${index + 1}` }] },
      ]),
    );
    expect(await checked({ $defs, $ref: '#/$defs/d0' }, {})).toBe(
      'their schema refers to itself too often to be checked',
    );
  });

  test('a schema that only refers to itself', async () => {
    expect(await checked({ $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, {})).toBe(
      'their schema refers to itself too often to be checked',
    );
  });

  test('items that are all compared with each other', async () => {
    const args = { a: Array.from({ length: 3001 }, (_, index) => index) };
    expect(await checked({ properties: { a: { uniqueItems: true } } }, args)).toBe(
      'they are too many to be checked',
    );
    expect(await checked({ properties: { a: { uniqueItems: false } } }, args)).toBe('ok');
  });

  test('many schemas for many values', async () => {
    const items = { allOf: Array.from({ length: 1000 }, () => ({ not: false })) };
    const args = { a: Array.from({ length: 20_000 }, () => 1) };
    expect(await checked({ properties: { a: { items } } }, args)).toBe(
      'they are too many to be checked',
    );
  });

  test('an expression that never ends', async () => {
    const schema = { properties: { a: { pattern: '(a+)+$' } } };
    expect(await checked(schema, { a: `${'a'.repeat(50)}!` })).toBe(
      'an expression of its schema cannot be matched: It took longer than 250 ms.',
    );
  });

  test('many texts for an expression', async () => {
    const args = Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`k${index}`, 1]));
    expect(await checked({ propertyNames: { pattern: 'k' } }, args)).toBe(
      'they have too many texts to be checked',
    );
  });
});

test('what a schema names as a value is not read as a schema', async () => {
  const value = { pattern: '(' };
  const schema = {
    properties: { a: { const: value }, b: { enum: [value] }, c: { pattern: 'y' } },
  };
  expect(await checked(schema, { a: value, b: value, c: 'y' })).toBe('ok');
  expect(await checked(schema, { a: value, b: value, c: 'n' })).toBe(
    'c: String does not match pattern',
  );
});

test.for<[keyword: string, schema: JsonObject, args: JsonObject]>([
  ['$ref', { $defs: { d: { required: ['a'] } }, $ref: '#/$defs/d' }, {}],
  ['allOf', { allOf: [{ required: ['a'] }] }, {}],
  ['dependentSchemas', { dependentSchemas: { b: { required: ['a'] } } }, { b: 1 }],
  ['else', { if: false, else: { required: ['a'] } }, {}],
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  ['then', { if: true, then: { required: ['a'] } }, {}],
])('only what is wrong inside of %s is named', async ([, schema, args]) => {
  expect(await checked(schema, args)).toBe('Instance does not have required property "a"');
});

test.for<[keyword: string, inside: JsonObject]>([
  ['items', { items: { type: 'string' } }],
  ['prefixItems', { prefixItems: [{ type: 'string' }] }],
])('only what is wrong inside of %s is named, with its place', async ([, inside]) => {
  expect(await checked({ properties: { list: inside } }, { list: [1] })).toBe(
    'list.0: Instance type "number" is invalid. Expected "string"',
  );
});

test.for([
  ['minimum', 'x'],
  ['maximum', 'x'],
  ['exclusiveMinimum', 'x'],
  ['exclusiveMaximum', 'x'],
  ['multipleOf', 0],
  ['minLength', -1],
  ['maxLength', -1],
  ['minItems', -1],
  ['maxItems', -1],
  ['minContains', -1],
  ['maxContains', -1],
  ['minProperties', -1],
  ['maxProperties', -1],
  ['pattern', 1],
  ['required', 'a'],
  ['enum', 'a'],
  ['type', 1],
  ['uniqueItems', 1],
  ['dependentRequired', { a: 'b' }],
] as const)('%s cannot be %j', ([keyword, value]) => {
  expect(() => readSchema({ type: 'object', properties: { a: { [keyword]: value } } })).toThrow(
    `its schema at "/properties/a/${keyword}" is not a valid value`,
  );
});

test.for(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])(
  'the type %s is known',
  (type) => {
    expect(readSchema({ type: 'object', properties: { a: { type } } }).size).toBe(2);
    expect(readSchema({ type: 'object', properties: { a: { type: [type] } } }).size).toBe(2);
  },
);

test('two expressions that match the same names both hold', async () => {
  const schema = { patternProperties: { '^a': { type: 'number' }, a$: { minimum: 2 } } };
  expect(await checked(schema, { a: 2 })).toBe('ok');
  expect(await checked(schema, { a: 'x' })).toContain('Expected "number"');
  expect(await checked(schema, { a: 1 })).toContain('1 is less than 2');
});

test.for(['$dynamicRef', '$recursiveRef', 'dependencies', 'additionalItems'])(
  'a schema with %s is refused',
  (keyword) => {
    expect(() => readSchema({ type: 'object', [keyword]: {} })).toThrow(
      `its schema uses ${keyword}`,
    );
  },
);

test('lists of schemas count as levels', () => {
  const deep = (depth: number): JsonObject => (depth === 0 ? {} : { allOf: [deep(depth - 1)] });
  expect(() => readSchema({ type: 'object', ...deep(65) })).toThrow(
    'its schema is nested deeper than 64 levels',
  );
  expect(readSchema({ type: 'object', ...deep(64) }).size).toBe(65);
});

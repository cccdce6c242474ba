import type { JsonValue } from '@orion/contracts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { answer } from './traversal.ts';
import type { Question } from './traversal.ts';

const document: JsonValue = {
  items: [
    { id: 7, type: 'a', tags: ['x', 'y'], gone: null },
    { id: 8, type: 'b', tags: [] },
    { id: 9, type: 'a', tags: ['z'], gone: null },
  ],
  name: 'all',
  __proto__x: true,
};
const ask = (question: Question, of: JsonValue = document): JsonValue => answer(of, question);

describe('extract (R208)', () => {
  it('lists the matches of each path, and the default for a path without one', () => {
    expect(
      ask({ kind: 'extract', paths: ['$.items[0].id', '$.none'], default_value: 'N/A' }),
    ).toEqual({ extracted: { '$.items[0].id': [7], '$.none': 'N/A' }, missing_paths: ['$.none'] });
    expect(ask({ kind: 'extract', paths: ['$.none'] })).toEqual({
      extracted: { '$.none': null },
      missing_paths: ['$.none'],
    });
  });

  it('takes a stored null for a match', () => {
    expect(ask({ kind: 'extract', paths: ['$.items[*].gone'] })).toEqual({
      extracted: { '$.items[*].gone': [null, null] },
      missing_paths: [],
    });
  });

  it('joins the matches of all paths, with a default only if one is given', () => {
    const paths = ['$.items[*].id', '$.none', '$.name'];
    expect(ask({ kind: 'extract', paths, flatten: true })).toEqual({
      extracted: [7, 8, 9, 'all'],
      missing_paths: ['$.none'],
    });
    expect(ask({ kind: 'extract', paths, flatten: true, default_value: null })).toMatchObject({
      extracted: [7, 8, 9, null, 'all'],
    });
  });

  it('says where each match is', () => {
    const paths = ['$..id', '$.none'];
    const matches = [7, 8, 9].map((value, at) => ({ path: `$['items'][${at}]['id']`, value }));
    expect(ask({ kind: 'extract', paths, include_paths: true })).toMatchObject({
      extracted: { '$..id': matches, '$.none': null },
    });
    expect(
      ask({ kind: 'extract', paths, include_paths: true, flatten: true, default_value: 0 }),
    ).toMatchObject({ extracted: [...matches, { path: '$.none', value: 0 }] });
  });

  it.each(['', 'items', '$.', '$[', '$[?(@.a==)]', '$.a[?foo(@)]', `$${'['.repeat(10_000)}`])(
    'says what is wrong with the path %j',
    (path) => {
      expect(() => ask({ kind: 'extract', paths: [path] })).toThrow(/is not a JSONPath/);
    },
  );

  it('reaches own members only, whatever they are called', () => {
    const hostile = JSON.parse('{"__proto__":{"a":1},"constructor":2}') as JsonValue;
    expect(ask({ kind: 'extract', paths: ['$.__proto__.a', '$.constructor'] }, hostile)).toEqual({
      extracted: { '$.__proto__.a': [1], '$.constructor': [2] },
      missing_paths: [],
    });
    expect(
      ask({ kind: 'extract', paths: ['$.__proto__', '$.constructor', '$.toString'] }, {}),
    ).toMatchObject({ missing_paths: ['$.__proto__', '$.constructor', '$.toString'] });
  });
});

describe('count (R209)', () => {
  it.each<[Extract<Question, { kind: 'count' }>['queries'][number], number]>([
    [{ path: '$.items' }, 3],
    [{ path: '$.items', count: 'array_length', filter: `@.type == 'a'` }, 2],
    [{ path: '$.items[0]', count: 'object_keys' }, 4],
    [{ path: '$.items[0]', count: 'object_keys', filter: '@ == null' }, 1],
    [{ path: '$.items[*].id', count: 'matches' }, 3],
    [{ path: '$.items[*].id', count: 'matches', filter: '@ > 7' }, 2],
    [{ path: '$.items[*].tags', count: 'nested_total' }, 3],
    [{ path: '$.items[*].tags', count: 'nested_total', filter: `@ != 'x'` }, 2],
    [{ path: '$.items', filter: String.raw`@.type != '\'$' && @.type != "$"` }, 3],
    [{ path: '$.items[?@.id > $.items[0].id]', count: 'matches' }, 2],
    [{ path: '$.none' }, 0],
    [{ path: '$.none', count: 'nested_total' }, 0],
  ])('counts %j', (query, expected) => {
    expect(ask({ kind: 'count', queries: [{ ...query, name: 'n' }] })).toEqual({
      counts: { n: expected },
      total: expected,
    });
  });

  it('adds several counts up', () => {
    const queries = [
      { path: '$.items' },
      { name: 'ids', path: '$..id', count: 'matches' as const },
    ];
    expect(ask({ kind: 'count', queries })).toEqual({ counts: { '$.items': 3, ids: 3 }, total: 6 });
  });

  it.each<[Extract<Question, { kind: 'count' }>['queries'], RegExp]>([
    [[{ path: '$.name' }], /array_length cannot count \$\.name: it holds a string/],
    [[{ path: '$.items', count: 'object_keys' }], /it holds an array/],
    [[{ path: '$.items[0].gone', count: 'nested_total' }], /it holds null/],
    [[{ path: '$.items' }, { path: '$.items' }], /Two queries have the name/],
    [[{ path: '$.items', filter: '@.' }], /is not a JSONPath/],
    [[{ path: '$.items', filter: '@.id > $.items[0].id' }], /names the document \(\$\)/],
    [[{ path: '$.items', filter: String.raw`@.type == "\"$'" && @ != $` }], /names the document/],
  ])('refuses %j', (queries, message) => {
    expect(() => ask({ kind: 'count', queries })).toThrow(message);
  });
});

describe('sample (R210)', () => {
  const numbers = Array.from({ length: 100 }, (_, at) => at);
  const sampled = (
    question: Omit<Extract<Question, { kind: 'sample' }>, 'kind'>,
    of: JsonValue = numbers,
  ) =>
    ask({ kind: 'sample', ...question }, of) as {
      items: JsonValue[];
      indices: number[];
      total: number;
      warning?: string;
    };

  it.each([
    [{ method: 'first', size: 3 } as const, [0, 1, 2]],
    [{ method: 'last', size: 3 } as const, [97, 98, 99]],
    [{ method: 'systematic', size: 3 } as const, [0, 33, 66]],
    [{ method: 'systematic', size: 3, stride: 10 } as const, [0, 10, 20]],
    [{ method: 'systematic', size: 60 } as const, numbers.slice(0, 60)],
  ])('takes %j', (question, indices) => {
    expect(sampled(question)).toMatchObject({ indices, items: indices, total: 100 });
  });

  it('draws the same for the same seed, and something else for another', () => {
    const one = sampled({ size: 10, seed: 1 });
    expect(sampled({ size: 10, seed: 1 })).toEqual(one);
    expect(sampled({ size: 10, seed: 2 }).indices).not.toEqual(one.indices);
    expect(one.indices).toEqual(one.indices.toSorted((a, b) => a - b));
    expect(new Set(one.indices).size).toBe(10);
  });

  it('draws every item about as often', () => {
    const drawn = Array.from({ length: 10 }, () => 0);
    for (let seed = 0; seed < 2_000; seed += 1)
      for (const index of sampled({ size: 3, seed }, numbers.slice(0, 10)).indices)
        drawn[index] = (drawn[index] ?? 0) + 1;
    for (const count of drawn) expect(Math.abs(count - 600)).toBeLessThan(100);
  });

  it('draws of each stratum as much as its share', () => {
    const items = [
      ...numbers.map(() => ({ type: 'a' })),
      ...numbers.slice(0, 50).map(() => ({ type: 'b' })),
    ];
    const types = sampled(
      { method: 'stratified', size: 10, strata_path: '$.type' },
      items,
    ).items.map((item) => (item as { type: string }).type);
    expect(types.filter((type) => type === 'a')).toHaveLength(7);
    expect(types.filter((type) => type === 'b')).toHaveLength(3);
  });

  it('gives all there are, and warns, where more are asked for', () => {
    expect(sampled({ size: 101 })).toMatchObject({
      items: numbers,
      warning: 'There are only 100 items; all of them are here.',
    });
    expect(sampled({ size: 100 }).warning).toBeUndefined();
  });

  it('samples the matches of a path that has several, or none', () => {
    expect(sampled({ path: '$.items[*].id', method: 'first', size: 2 }, document).items).toEqual([
      7, 8,
    ]);
    expect(sampled({ path: '$.none' }, document)).toMatchObject({ items: [], total: 0 });
    expect(sampled({ path: '$.items[?@.id == 8]' }, document).items).toMatchObject([{ id: 8 }]);
    expect(sampled({ path: '$.items[*]' }, { items: [[1, 2]] }).items).toEqual([[1, 2]]);
  });

  it.each([
    [{ path: '$.name' }, /nothing to sample at \$\.name: it holds a string/],
    [{ path: '$' }, /it holds an object/],
    [{ path: '$.items', method: 'stratified' as const, size: 1 }, /needs strata_path/],
  ])('refuses %j', (question, message) => {
    expect(() => sampled(question, document)).toThrow(message);
  });

  it('always has as many items as were asked for', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(4), { maxLength: 60 }),
        fc.integer({ min: 1, max: 70 }),
        fc.integer(),
        (items, size, seed) => {
          for (const method of ['random', 'first', 'last', 'systematic', 'stratified'] as const) {
            const got = sampled({ method, size, seed, strata_path: '$' }, items);
            expect(got.items).toHaveLength(Math.min(size, items.length));
            expect(got.indices).toEqual([...new Set(got.indices)].toSorted((a, b) => a - b));
            expect(got.items).toEqual(got.indices.map((index) => items[index]));
          }
        },
      ),
    );
  });
});

describe('stats (R207)', () => {
  it('counts types, arrays and objects exactly, and shows the structure', () => {
    expect(ask({ kind: 'stats' })).toEqual({
      structure: {
        items: {
          array_length: 3,
          items: {
            id: 'number',
            type: 'string',
            tags: { array_length: { min: 0, max: 2 }, items: 'string' },
            gone: 'null',
          },
        },
        name: 'string',
        __proto__x: 'boolean',
      },
      types: { object: 4, array: 4, string: 7, number: 3, boolean: 1, null: 2 },
      arrays: { count: 4, total_items: 6, max_length: 3 },
      objects: { count: 4, total_keys: 14, max_keys: 4 },
    });
  });

  it('shows as many levels as it is asked for', () => {
    expect(ask({ kind: 'stats', max_depth: 1 })).toMatchObject({ structure: 'object' });
    expect(ask({ kind: 'stats', max_depth: 2 })).toMatchObject({
      structure: { items: 'array', name: 'string' },
    });
  });

  it('describes single places', () => {
    expect(ask({ kind: 'stats', paths: ['$..id', '$.none'] })).toMatchObject({
      paths: {
        '$..id': { matches: 3, structure: 'number', types: { number: 3 } },
        '$.none': { matches: 0, structure: 'nothing' },
      },
    });
  });

  it('writes a schema of what is there', () => {
    expect(ask({ kind: 'stats', paths: ['$.items'], include_schema: true })).toMatchObject({
      paths: {
        '$.items': {
          schema: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                id: { type: 'number' },
                tags: { type: 'array' },
                gone: { type: 'null' },
              },
              required: ['id', 'type', 'tags'],
            },
          },
        },
      },
    });
  });

  it('names all types of a place, and leaves keys out that are too many', () => {
    expect(ask({ kind: 'stats' }, [1, 'a', [2], { b: 3 }])).toMatchObject({
      structure: {
        array_length: 4,
        items: {
          types: ['number', 'string', 'array', 'object'],
          object: { b: 'number' },
          items: 'number',
        },
      },
    });
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`k${at}`, at]));
    const { structure } = ask({ kind: 'stats' }, wide) as { structure: Record<string, string> };
    expect(Object.keys(structure)).toHaveLength(51);
    expect(structure['…']).toBe('10 more keys');
  });

  it('takes a document of any depth', () => {
    let deep: JsonValue = 1;
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    expect(ask({ kind: 'stats', max_depth: 10 }, deep)).toMatchObject({
      arrays: { count: 20_000 },
    });
  });
});

describe('samples, pinned (R210)', () => {
  const letters = Array.from({ length: 21 }, (_, at) => ({ at, type: 'aaabb'[at % 5] ?? 'c' }));
  const mixed: JsonValue = [...letters, { at: 21, type: 'c' }];

  it.each<Extract<Question, { kind: 'sample' }>>([
    { kind: 'sample' },
    { kind: 'sample', method: 'random', size: 3, seed: 7 },
    { kind: 'sample', method: 'stratified', size: 6, strata_path: '$.type' },
    { kind: 'sample', method: 'stratified', size: 7, seed: -3, strata_path: '$.type' },
    { kind: 'sample', method: 'first', size: 2 },
    { kind: 'sample', method: 'systematic', size: 22, stride: 2 },
    { kind: 'sample', method: 'last', size: 23 },
  ])('%j', (question) => {
    const { items: _, ...known } = ask(question, mixed) as { items: JsonValue };
    expect(JSON.stringify(known)).toMatchSnapshot();
  });
});

it('looks at a hundred items of an array for what they are like', () => {
  const items = (last: JsonValue, count: number): JsonValue => [
    ...Array.from({ length: count }, () => 1),
    last,
  ];
  const structure = (of: JsonValue) =>
    ask({ kind: 'stats', include_schema: true }, of) as { structure: unknown; schema: unknown };
  expect(structure(items('x', 99))).toMatchObject({
    structure: { array_length: 100, items: 'number or string' },
    schema: { type: 'array', items: { type: ['number', 'string'] } },
  });
  expect(structure(items('x', 100))).toMatchObject({
    structure: { array_length: 101, items: 'number' },
    schema: { type: 'array', items: { type: 'number' } },
  });
  expect(structure([1])).toMatchObject({ schema: { type: 'array', items: { type: 'number' } } });
  expect(structure([])).toMatchObject({ schema: { type: 'array' } });
});

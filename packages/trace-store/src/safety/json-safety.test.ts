import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { describeThrown, toSafeJson } from './json-safety.ts';

const safe = (value: unknown) => toSafeJson(value).value;

test('JSON stays what it is', () => {
  fastCheck.assert(
    fastCheck.property(fastCheck.jsonValue({ maxDepth: 8 }), (value) => {
      expect(JSON.stringify(safe(value))).toBe(JSON.stringify(value));
    }),
  );
});

test('names what JSON has no form for', () => {
  function named() {
    return 1;
  }
  expect(
    safe({
      nothing: undefined,
      named,
      symbol: Symbol('s'),
      big: 12345678901234567890n,
      nan: Number.NaN,
      infinite: -Infinity,
      date: new Date(0),
      badDate: new Date(Number.NaN),
      map: new Map([['a', new Set([1])]]),
      bytes: Buffer.from('secret bytes'),
      view: new DataView(new ArrayBuffer(7)),
      buffer: new ArrayBuffer(3),
      expression: /a/g,
      boxed: Object('text'),
      boxes: [Object(1), Object(true), Object(2n), Object(Symbol('s'))],
      nameless: [() => 1][0],
      named5: class {
        static readonly name = 5;
      },
      nameThrows: Object.defineProperty(() => 1, 'name', {
        get: () => {
          throw new Error('no name');
        },
      }),
      weak: [new WeakMap(), new WeakSet()],
      shared: new SharedArrayBuffer(4),
      negativeZero: Object(-0),
      later: Promise.resolve(1),
    }),
  ).toEqual({
    nothing: '[undefined]',
    named: '[function named]',
    symbol: '[symbol s]',
    big: '12345678901234567890n',
    nan: 'NaN',
    infinite: '-Infinity',
    date: '1970-01-01T00:00:00.000Z',
    badDate: '[invalid date]',
    map: { type: 'Map', entries: [['a', { type: 'Set', values: [1] }]] },
    bytes: { type: 'Buffer', length: 12 },
    view: { type: 'DataView', length: 7 },
    buffer: { type: 'ArrayBuffer', length: 3 },
    expression: '/a/g',
    boxed: 'text',
    boxes: [1, true, '2n', '[symbol s]'],
    nameless: '[function anonymous]',
    named5: '[function anonymous]',
    nameThrows: '[function anonymous]',
    weak: ['[WeakMap]', '[WeakSet]'],
    shared: { type: 'ArrayBuffer', length: 4 },
    negativeZero: 0,
    later: '[Promise]',
  });
});

test('keeps of an error its name, message, code, stack and causes', () => {
  const error = Object.assign(new TypeError('outer', { cause: new Error('inner') }), {
    code: 'E_X',
    extra: 1,
  });
  expect(safe(error)).toMatchObject({
    name: 'TypeError',
    message: 'outer',
    code: 'E_X',
    stack: expect.stringContaining('TypeError: outer'),
    cause: { name: 'Error', message: 'inner' },
    extra: 1,
  });
  expect(safe(new AggregateError([new Error('one')], 'many'))).toMatchObject({
    errors: [{ message: 'one' }],
  });
  const loop = new Error('loop');
  loop.cause = loop;
  expect(safe(loop)).toMatchObject({ cause: '[circular]' });
});

test('tells a cycle from a value that stands twice', () => {
  const shared = { a: 1 };
  expect(safe([shared, shared])).toEqual([{ a: 1 }, { a: 1 }]);
  const cyclic: Record<string, unknown> = {};
  cyclic['inner'] = { cyclic };
  expect(safe(cyclic)).toEqual({ inner: { cyclic: '[circular]' } });
});

test('what throws when it is looked at is told of, and the rest is kept', () => {
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  class Unnameable {
    static get name(): string {
      throw new Error('no name');
    }
  }
  const value = safe({
    before: 1,
    get broken(): never {
      throw new Error('getter');
    },
    json: {
      toJSON() {
        throw new Error('toJSON');
      },
    },
    selfish: {
      a: 1,
      toJSON() {
        return this;
      },
    },
    revoked: revoked.proxy,
    unnameable: Unnameable,
    thrower: {
      get inner(): never {
        // oxlint-disable-next-line no-throw-literal, only-throw-error -- the hazard under test
        throw Object.create(null);
      },
    },
    after: 2,
  });
  expect(value).toMatchObject({
    before: 1,
    broken: '[getter threw: getter]',
    json: '[toJSON threw: toJSON]',
    selfish: { a: 1 },
    revoked: expect.stringContaining('[unreadable'),
    unnameable: '[function anonymous]',
    thrower: { inner: '[getter threw: something that cannot be shown]' },
    after: 2,
  });
});

test('stops at its limits and says so', () => {
  let deep: unknown = 'bottom';
  for (let level = 0; level < 40; level++) deep = { deep };
  expect(toSafeJson(deep).truncated).toBe(true);
  expect(JSON.stringify(safe(deep))).toContain('[too deep]');

  // R226: text between 16 and 64 Ki characters is kept as it is.
  expect(toSafeJson('x'.repeat(65_536))).toEqual({ truncated: false, value: 'x'.repeat(65_536) });
  const long = toSafeJson('x'.repeat(65_537));
  expect(long).toEqual({
    truncated: true,
    value: {
      type: 'text',
      truncated: true,
      length: 65_537,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      start: 'x'.repeat(1024),
    },
  });

  const wide = toSafeJson(Array.from({ length: 1_000_000 }, () => 0));
  expect(wide.truncated).toBe(true);
  expect((wide.value as unknown[]).at(-1)).toBe('[990000 more]');

  const pairs = Array.from({ length: 10_001 }, (_, index) => [index, 0] as const);
  const map = toSafeJson(new Map(pairs));
  expect(map.truncated).toBe(true);
  expect((map.value as { entries: unknown[] }).entries.slice(-2)).toEqual([[9_999, 0], '[1 more]']);
  const set = toSafeJson(new Set(pairs));
  expect((set.value as { values: unknown[] }).values.at(-1)).toMatch(/^\[\d+ more\]$/u);
  const record = toSafeJson(Object.fromEntries(pairs));
  expect(record.truncated).toBe(true);
  expect((record.value as Record<string, unknown>)['[more]']).toBe(1);
  const fits = toSafeJson(new Map(pairs.slice(1)));
  expect(fits.truncated).toBe(false);

  const keys = toSafeJson({ ['k'.repeat(1000)]: 1 });
  expect(keys.truncated).toBe(true);

  const endless = toSafeJson({
    *[Symbol.iterator]() {
      yield 1;
    },
    toJSON: () => ({ toJSON: () => 'inner' }),
  });
  expect(endless.value).toBe('inner');
});

test('what is cut is redacted before: no part of a secret is left where the cut goes through it', () => {
  const key = 'sk-abcdefghijklmnop';
  const at = (limit: number, length: number): string =>
    `${'x'.repeat(limit - 6)} ${key} `.padEnd(length, 'y');
  const failing = {
    get broken(): never {
      throw new Error(at(256, 400));
    },
  };
  const value = { text: at(1024, 70_000), [at(256, 400)]: 1, failing };
  expect(JSON.stringify(safe(value))).not.toContain('sk-');
  expect(JSON.stringify(safe(value)).match(/ \[REDA/gu)).toHaveLength(3);
  // And a key that only its own letters tell.
  const own = { text: `${'x'.repeat(1018)}my own key ${'y'.repeat(70_000)}` };
  expect(
    JSON.stringify(toSafeJson(own, (text) => text.replaceAll('my own key', '*')).value),
  ).toContain('xx* y');
});

test('an object whose toJSON always makes another one ends', () => {
  const make = (): unknown => ({ toJSON: () => make() });
  expect(toSafeJson(make())).toEqual({ value: '[too deep]', truncated: true });
});

test('a key named __proto__ is a key', () => {
  const value = JSON.parse('{"__proto__":{"polluted":true}}') as unknown;
  expect(JSON.stringify(safe(value))).toBe('{"__proto__":{"polluted":true}}');
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
});

test('keys, names of functions and thrown texts of 256 characters are whole', () => {
  const whole = 'k'.repeat(256);
  expect(toSafeJson({ [whole]: 1 })).toEqual({ value: { [whole]: 1 }, truncated: false });
  expect(toSafeJson({ [`${whole}k`]: 1 })).toEqual({
    value: { [`${whole}… (257 characters)`]: 1 },
    truncated: true,
  });
  expect(describeThrown(new Error(whole))).toBe(whole);
  expect(describeThrown(`${whole}k`)).toBe(whole);
});

test('a set counts as two steps into the depth, since it is told as an object with a list', () => {
  let sets: unknown = 'inside';
  let lists: unknown = 'inside';
  for (let count = 0; count < 40; count += 1) {
    sets = new Set([sets]);
    lists = [lists];
  }
  const depthOf = (value: unknown, opening: string): number =>
    JSON.stringify(safe(value)).split(opening).length - 1;
  expect(depthOf(lists, '[')).toBeGreaterThan(30);
  expect(depthOf(sets, '"values":[')).toBe(Math.floor(depthOf(lists, '[') / 2));
});

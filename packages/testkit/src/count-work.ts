/**
 * How much a piece of synchronous work looks at: characters and entries that pass through the built-in functions of
 * texts, lists, expressions and JSON while it runs. What is told of is not time but the same number on every machine,
 * so that a property can be stated of it: twice the input, twice the work.
 *
 * A loop over a text counts by its `charAt` or `charCodeAt`; what only copies an object, or walks over a map, is not
 * seen.
 */
export function countWork(work: () => void): number {
  let count = 0;
  const restore: (() => void)[] = [];
  try {
    for (const { owner, costs } of COUNTED) {
      for (const [name, cost] of Object.entries(costs)) {
        const original: unknown = Reflect.get(owner, name);
        if (typeof original !== 'function')
          throw new TypeError(`There is no ${name} to be counted`);
        Reflect.set(owner, name, function counted(this: unknown, ...given: unknown[]): unknown {
          const result: unknown = Reflect.apply(original, this, given);
          count += cost({ self: this, given, result });
          return result;
        });
        restore.push(() => Reflect.set(owner, name, original));
      }
    }
    work();
  } finally {
    for (const put of restore) put();
  }
  return count;
}

type Call = {
  readonly self: unknown;
  readonly given: readonly unknown[];
  readonly result: unknown;
};
type Cost = (call: Call) => number;

const lengthOf = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) ? value.length : 0;

const one: Cost = () => 1;
const all: Cost = ({ self }) => lengthOf(self);
const result: Cost = (call) => lengthOf(call.result);
const given: Cost = (call) => lengthOf(call.given[0]);

/** From where the search begins to what it finds, or to the end. */
const searched: Cost = ({ self, given: [, start], result: found }) => {
  const from = typeof start === 'number' ? start : 0;
  const to = typeof found === 'number' && found >= 0 ? found : lengthOf(self);
  return Math.abs(to - from) + 1;
};
const searchedBack: Cost = ({ self, result: found }) =>
  lengthOf(self) - (typeof found === 'number' && found >= 0 ? found : 0);

const COUNTED: readonly {
  readonly owner: object;
  readonly costs: Readonly<Record<string, Cost>>;
}[] = [
  {
    owner: String.prototype,
    costs: {
      at: one,
      charAt: one,
      charCodeAt: one,
      codePointAt: one,
      endsWith: given,
      includes: all,
      indexOf: searched,
      isWellFormed: all,
      lastIndexOf: searchedBack,
      match: all,
      normalize: all,
      padEnd: result,
      padStart: result,
      repeat: result,
      replace: all,
      replaceAll: all,
      search: all,
      slice: result,
      split: all,
      startsWith: given,
      substring: result,
      toLowerCase: all,
      toUpperCase: all,
      trim: all,
      trimEnd: all,
      trimStart: all,
    },
  },
  {
    owner: Array.prototype,
    costs: {
      concat: result,
      every: all,
      filter: all,
      find: all,
      findIndex: all,
      findLast: all,
      flatMap: all,
      includes: all,
      indexOf: all,
      join: result,
      map: all,
      reduce: all,
      slice: result,
      some: all,
    },
  },
  { owner: RegExp.prototype, costs: { exec: given, test: given } },
  { owner: JSON, costs: { parse: given, stringify: result } },
  {
    owner: Object,
    costs: { entries: result, fromEntries: given, keys: result, values: result },
  },
  { owner: Buffer.prototype, costs: { toString: result } },
];

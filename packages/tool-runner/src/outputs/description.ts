import type { JsonObject, JsonValue } from '@orion/contracts';

import { childrenOf, isArray, isObject, ownMembers, typeOf } from './json-types.ts';
import type { JsonType } from './json-types.ts';

/** The types, sizes and structure of what these values hold, exactly; only what arrays hold is described by a sample. */
export function describe(
  values: readonly JsonValue[],
  depth: number,
  withSchema: boolean,
): { readonly [key: string]: JsonValue } {
  const types: Record<JsonType, number> = {
    object: 0,
    array: 0,
    string: 0,
    number: 0,
    boolean: 0,
    null: 0,
  };
  const arrays = { count: 0, total_items: 0, max_length: 0 };
  const objects = { count: 0, total_keys: 0, max_keys: 0 };
  // A list of its own instead of a recursion: a document may be as deep as it likes.
  const open = [...values];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    types[typeOf(value)] += 1;
    const children = childrenOf(value);
    if (isArray(value)) {
      arrays.count += 1;
      arrays.total_items += children.length;
      arrays.max_length = Math.max(arrays.max_length, children.length);
    } else if (isObject(value)) {
      objects.count += 1;
      objects.total_keys += children.length;
      objects.max_keys = Math.max(objects.max_keys, children.length);
    }
    for (const child of children) open.push(child);
  }
  return {
    structure: structureOf(values, depth),
    types,
    arrays,
    objects,
    ...(withSchema ? { schema: schemaOf(values, depth) } : {}),
  };
}

/** As many items of an array are looked at for what its items are like. */
const ITEMS_LOOKED_AT = 100;
/** As many keys of an object are described; a map of a thousand entries is no structure. */
const KEYS_DESCRIBED = 50;

/** `{"items": ["array of 3", {"id": "number"}]}`: a type, or what is inside. */
function structureOf(values: readonly JsonValue[], depth: number): JsonValue {
  const { types, keys, hidden, items, lengths } = shapeOf(values);
  const scalar = types.join(' or ') || 'nothing';
  if (depth <= 1 || (keys.size === 0 && items.length === 0)) return scalar;
  const ofObject = ownMembers([
    ...[...keys].map(([key, inside]): [string, JsonValue] => [key, structureOf(inside, depth - 1)]),
    ...(hidden === 0 ? [] : [['…', `${hidden} more keys`] as [string, JsonValue]]),
  ]);
  if (types.length === 1 && types[0] === 'object') return ofObject;
  if (types.length === 1 && types[0] === 'array')
    return { array_length: lengths, items: structureOf(items, depth - 1) };
  return {
    types,
    ...(keys.size === 0 ? {} : { object: ofObject }),
    ...(items.length === 0 ? {} : { items: structureOf(items, depth - 1) }),
  };
}

/** The same as JSON Schema, as far as the values show it. */
function schemaOf(values: readonly JsonValue[], depth: number): JsonObject {
  const { types, keys, items, objects } = shapeOf(values);
  const [type = 'null', ...others] = types;
  return {
    type: others.length === 0 ? type : types,
    ...(depth <= 1 || keys.size === 0
      ? {}
      : {
          properties: ownMembers(
            [...keys].map(([key, inside]) => [key, schemaOf(inside, depth - 1)]),
          ),
          required: [...keys].filter(([, inside]) => inside.length === objects).map(([key]) => key),
        }),
    ...(depth <= 1 || items.length === 0 ? {} : { items: schemaOf(items, depth - 1) }),
  };
}

type Shape = {
  readonly types: readonly JsonType[];
  /** The values of each key, over all objects. */
  readonly keys: ReadonlyMap<string, readonly JsonValue[]>;
  /** Keys beyond those. */
  readonly hidden: number;
  readonly objects: number;
  readonly items: readonly JsonValue[];
  /** The length of the one array, or the shortest and the longest. */
  readonly lengths: JsonValue;
};

function shapeOf(values: readonly JsonValue[]): Shape {
  const types = [...new Set(values.map(typeOf))];
  const objects = values.filter(isObject);
  const all = Map.groupBy(
    objects.flatMap((object) => Object.entries(object) as [string, JsonValue][]),
    ([key]) => key,
  );
  const keys = [...all].slice(0, KEYS_DESCRIBED);
  const arrays = values.filter(isArray);
  const min = arrays.reduce((least, { length }) => Math.min(least, length), Infinity);
  const max = arrays.reduce((most, { length }) => Math.max(most, length), 0);
  return {
    types,
    keys: new Map(keys.map(([key, entries]) => [key, entries.map(([, value]) => value)])),
    hidden: all.size - keys.length,
    objects: objects.length,
    items: arrays.flatMap((array) => array.slice(0, ITEMS_LOOKED_AT)).slice(0, ITEMS_LOOKED_AT),
    lengths: min === max ? min : { min, max },
  };
}

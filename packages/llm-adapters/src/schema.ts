import { isFields } from '@orion/contracts';
import type { JsonObject, JsonValue } from '@orion/contracts';

/**
 * JSON Schemas as providers accept them for structured answers and for the arguments of tools. What a provider cannot
 * guarantee is removed here and checked when the answer is read; the rest is unchanged.
 */

/** Alternatives and conditions, which constrained decoding does not support. */
const REMOVED_KEYWORDS: ReadonlySet<string> = new Set([
  'if',
  'then',
  'else',
  'allOf',
  'oneOf',
  'anyOf',
  'dependentSchemas',
  'unevaluatedProperties',
]);
const NUMERIC_BOUNDS: ReadonlySet<string> = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
]);
/** What the arguments of a tool cannot have at the top, with one provider or another. */
const REFUSED_AT_THE_TOP: ReadonlySet<string> = new Set(['oneOf', 'anyOf', 'allOf', 'enum', 'not']);
/** Keywords whose values map names to schemas: names in them are not keywords. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
]);
/** Keywords whose values are data, even if they look like schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** A place in a schema that a provider would refuse, as a JSON pointer, and the reason. */
export type SchemaViolation = { readonly pointer: string; readonly reason: string };

/** The schema without what constrained decoding refuses; an equal schema if nothing is refused. */
export function sanitizeSchema(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(
    ([keyword]) => !REMOVED_KEYWORDS.has(keyword) && !NUMERIC_BOUNDS.has(keyword),
  );
  const sanitized = Object.fromEntries(
    kept.map(([keyword, value]) => [keyword, changeWithin(keyword, value, sanitizeSchema)]),
  );
  return isObjectSchema(schema) ? { ...sanitized, additionalProperties: false } : sanitized;
}

/** The value of a keyword with each schema directly in it changed. */
function changeWithin(
  keyword: string,
  value: JsonValue | undefined,
  change: (schema: JsonObject) => JsonObject,
): JsonValue | undefined {
  if (DATA.has(keyword)) return value;
  if (Array.isArray(value))
    return value.map((item: JsonValue) => (isFields(item) ? change(item) : item));
  if (!isFields(value)) return value;
  if (!SCHEMA_MAPS.has(keyword)) return change(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [
      name,
      isFields(schema) ? change(schema) : schema,
    ]),
  );
}

/** Everything in a schema that constrained decoding refuses; nothing in a result of `sanitizeSchema`. */
export function findViolations(schema: JsonObject, pointer = ''): readonly SchemaViolation[] {
  const own: SchemaViolation[] = [];
  if (isObjectSchema(schema) && schema['additionalProperties'] !== false) {
    own.push({ pointer, reason: 'an object must set additionalProperties to false' });
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const place = `${pointer}/${escapePointer(keyword)}`;
    if (REMOVED_KEYWORDS.has(keyword))
      own.push({ pointer: place, reason: `${keyword} is not supported` });
    else if (NUMERIC_BOUNDS.has(keyword))
      own.push({ pointer: place, reason: 'bounds of numbers are not supported' });
    else if (!DATA.has(keyword)) own.push(...violationsWithin(keyword, value, place));
  }
  return own;
}

function violationsWithin(
  keyword: string,
  value: JsonValue | undefined,
  place: string,
): readonly SchemaViolation[] {
  if (Array.isArray(value)) {
    return value.flatMap((item: JsonValue, index) =>
      isFields(item) ? findViolations(item, `${place}/${index}`) : [],
    );
  }
  if (!isFields(value)) return [];
  if (!SCHEMA_MAPS.has(keyword)) return findViolations(value, place);
  return Object.entries(value).flatMap(([name, schema]) =>
    isFields(schema) ? findViolations(schema, `${place}/${escapePointer(name)}`) : [],
  );
}

/**
 * The schema of a tool's arguments as all providers accept it: at the top a single object that names its properties,
 * without alternatives, and no list that leaves out what is in it. The properties of alternatives become its own, and
 * what all of them require. Arguments are checked against the whole schema.
 */
export function argumentsSchema(schema: JsonObject): JsonObject {
  const kept = Object.entries({ ...schema, type: 'object' }).filter(
    ([keyword]) => !REFUSED_AT_THE_TOP.has(keyword),
  );
  const { properties, required } = membersOf(schema, schema, new Map());
  return withItems({
    type: 'object',
    ...Object.fromEntries(kept),
    properties,
    ...(required.length === 0 ? {} : { required: [...required] }),
  });
}

type Members = { readonly properties: JsonObject; readonly required: readonly string[] };

/**
 * The properties of an object and of its alternatives, and those that it cannot be without. `known`: of the schemas that
 * have been read, or are being read, because they may refer to themselves.
 */
function membersOf(schema: JsonObject, root: JsonObject, known: Map<JsonObject, Members>): Members {
  const earlier = known.get(schema);
  if (earlier !== undefined) return earlier;
  known.set(schema, { properties: {}, required: [] });
  const { properties, required } = schema;
  const own: Members = {
    properties: isFields(properties) ? properties : {},
    required: Array.isArray(required)
      ? required.filter((name: JsonValue) => typeof name === 'string')
      : [],
  };
  const members = (keyword: string): Members[] => {
    const list = schema[keyword];
    if (!Array.isArray(list)) return [];
    return list.flatMap((part: JsonValue) => {
      const found = referred(part, root);
      return isFields(found) ? [membersOf(found, root, known)] : [];
    });
  };
  const all = members('allOf');
  const choices = [members('anyOf'), members('oneOf')];
  const found: Members = {
    properties: joined([own, ...all, ...choices.flat()].map((part) => part.properties)),
    required: [
      ...new Set([
        ...[own, ...all].flatMap((part) => part.required),
        ...choices.flatMap(([first, ...others]) =>
          (first?.required ?? []).filter((name) =>
            others.every((other) => other.required.includes(name)),
          ),
        ),
      ]),
    ],
  };
  known.set(schema, found);
  return found;
}

/** A property with several schemas may have any of them. */
function joined(parts: readonly JsonObject[]): JsonObject {
  const schemas = new Map<string, Map<string, JsonValue>>();
  for (const [name, schema] of parts.flatMap((part) => Object.entries(part))) {
    if (schema === undefined) continue;
    const known = schemas.get(name) ?? new Map<string, JsonValue>();
    schemas.set(name, known.set(JSON.stringify(schema), schema));
  }
  return Object.fromEntries(
    [...schemas].map(([name, known]) => {
      const [first = {}, ...others] = known.values();
      return [name, others.length === 0 ? first : { anyOf: [first, ...others] }];
    }),
  );
}

/** What a reference such as `#/$defs/Circle` refers to; anything else is itself. */
function referred(part: JsonValue, root: JsonObject): JsonValue | undefined {
  const reference = isFields(part) ? part['$ref'] : undefined;
  if (typeof reference !== 'string') return part;
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const definitions = root[place];
  return isFields(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : part;
}

function withItems(schema: JsonObject): JsonObject {
  const changed = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [
      keyword,
      changeWithin(keyword, value, withItems),
    ]),
  );
  return isOfType(schema, 'array') ? { items: {}, ...changed } : changed;
}

function isObjectSchema(schema: JsonObject): boolean {
  return (
    isOfType(schema, 'object') || (schema['type'] === undefined && isFields(schema['properties']))
  );
}

function isOfType({ type }: JsonObject, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name));
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

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
 * without alternatives, and no list that leaves out what is in it. Arguments are checked against the whole schema.
 */
export function argumentsSchema(schema: JsonObject): JsonObject {
  const kept = Object.entries({ ...schema, type: 'object' }).filter(
    ([keyword]) => !REFUSED_AT_THE_TOP.has(keyword),
  );
  return withItems({ type: 'object', properties: {}, ...Object.fromEntries(kept) });
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

import { isFields } from '@orion/contracts';
import type { JsonObject, JsonValue } from '@orion/contracts';

/**
 * JSON Schemas as providers accept them for structured answers. What a provider cannot guarantee is removed here and
 * checked when the answer is read; the rest is unchanged.
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
    kept.map(([keyword, value]) => [keyword, sanitizeValue(keyword, value)]),
  );
  return isObjectSchema(schema) ? { ...sanitized, additionalProperties: false } : sanitized;
}

function sanitizeValue(keyword: string, value: JsonValue | undefined): JsonValue | undefined {
  if (DATA.has(keyword)) return value;
  if (Array.isArray(value))
    return value.map((item: JsonValue) => (isFields(item) ? sanitizeSchema(item) : item));
  if (!isFields(value)) return value;
  if (!SCHEMA_MAPS.has(keyword)) return sanitizeSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, schema]) => [
      name,
      isFields(schema) ? sanitizeSchema(schema) : schema,
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
 * The schema of a tool's arguments. Providers accept alternatives anywhere but at the top level, where they require a
 * single object.
 */
export function withoutTopLevelAlternatives(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).filter(([keyword]) => !['oneOf', 'anyOf', 'allOf'].includes(keyword)),
  );
}

function isObjectSchema(schema: JsonObject): boolean {
  const { type } = schema;
  return (
    type === 'object' ||
    (Array.isArray(type) && type.includes('object')) ||
    (type === undefined && isFields(schema['properties']))
  );
}

function escapePointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

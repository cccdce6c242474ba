import { isFields } from '@orion/contracts';
import type { JsonObject, JsonValue } from '@orion/contracts';

/**
 * JSON Schemas as providers take them for structured answers. What a provider cannot promise is taken out here and
 * checked by whoever reads the answer; what stays says the same.
 */

/** Alternatives and conditions, which constrained decoding does not know. */
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
/** Keywords whose values map names to schemas: there a name is never a keyword. */
const SCHEMA_MAPS: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
]);
/** Keywords whose values are data, however much they look like schemas. */
const DATA: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples']);

/** A place in a schema that a provider would refuse, as a JSON pointer, and why. */
export type SchemaViolation = { readonly pointer: string; readonly reason: string };

/** The schema without what constrained decoding refuses. A schema that it takes comes back equal. */
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

/** Everything in a schema that constrained decoding refuses; empty for what `sanitizeSchema` gives back. */
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
 * The schema of a tool's arguments: the providers take alternatives everywhere but at the top, where each of them
 * wants one object.
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

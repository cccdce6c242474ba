import { MAX_JSON_DEPTH, isFields } from '@orion/contracts';
import type { JsonObject, JsonValue } from '@orion/contracts';

/**
 * The part of a tool's JSON Schema (2020-12) that arguments are checked against, with nothing that refers outside the
 * document.
 *
 * 1. Schemas are untrusted. Size and depth are limited, every `$ref` must resolve inside the document, and nothing is
 *    ever fetched.
 * 2. Only keywords that validate are kept. Annotations, including `format`, are dropped.
 * 3. Regular expressions are collected but not run here: they run in a thread that can be stopped.
 */
export type SchemaDocument = {
  readonly schema: Schema;
  /** Its regular expressions, without duplicates. */
  readonly patterns: readonly string[];
  /** The number of subschemas. */
  readonly size: number;
  /** Whether it compares the items of a list with each other (`uniqueItems`). */
  readonly comparesItems: boolean;
};

export type Schema = boolean | { readonly [keyword: string]: JsonValue | SchemaPart };
type SchemaPart = Schema | readonly Schema[] | { readonly [name: string]: Schema };

export const MAX_SCHEMA_CHARACTERS: number = 256 * 1024;
export const MAX_SCHEMA_DEPTH: number = 64;
const MAX_SCHEMAS = 5000;
const MAX_PATTERNS = 32;

/** Keywords whose value is a schema, a list of schemas, or a schema for each name. */
const ONE = new Set([
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
]);
const LISTS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
export const NAMED: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);
/** Keywords that contain no schemas, and the check of their value. */
const PLAIN: ReadonlyMap<string, (value: JsonValue) => boolean> = new Map([
  ['$ref', isText],
  ['$anchor', isText],
  ['const', () => true],
  ['dependentRequired', (value) => isFields(value) && Object.values(value).every(isTexts)],
  ['enum', Array.isArray],
  ['exclusiveMaximum', isNumber],
  ['exclusiveMinimum', isNumber],
  ['maxContains', isCount],
  ['maxItems', isCount],
  ['maxLength', isCount],
  ['maxProperties', isCount],
  ['maximum', isNumber],
  ['minContains', isCount],
  ['minItems', isCount],
  ['minLength', isCount],
  ['minProperties', isCount],
  ['minimum', isNumber],
  ['multipleOf', (value) => typeof value === 'number' && value > 0],
  ['pattern', isText],
  ['required', isTexts],
  ['type', (value) => isType(value) || (Array.isArray(value) && value.every(isType))],
  ['uniqueItems', (value) => typeof value === 'boolean'],
]);
/** Unsupported keywords that would change the meaning of others. */
const NOT_UNDERSTOOD = new Set(['$dynamicRef', '$recursiveRef', 'dependencies', 'additionalItems']);

/** Why a tool cannot be used. The message completes a sentence about the tool. */
export class UnreadableSchema extends Error {}

/** Those that were read: most tools have theirs in every turn. */
const documents = new WeakMap<JsonObject, SchemaDocument>();

/** Throws `UnreadableSchema`. */
export function readSchema(parameters: JsonObject): SchemaDocument {
  const known = documents.get(parameters);
  if (known !== undefined) return known;
  if (parameters['type'] !== 'object')
    throw new UnreadableSchema('its schema does not describe an object');
  const reader = new Reader();
  const schema = reader.read(parameters, '', 0);
  reader.resolve();
  const document = {
    schema,
    patterns: [...reader.patterns],
    size: reader.size,
    comparesItems: reader.comparesItems,
  };
  documents.set(parameters, document);
  return document;
}

class Reader {
  readonly patterns = new Set<string>();
  size = 0;
  comparesItems = false;
  /** The locations of all subschemas, and the references to check. */
  readonly #places = new Set<string>();
  readonly #references = new Set<string>();
  #characters = 0;

  read(given: unknown, place: string, depth: number): Schema {
    this.size += 1;
    if (this.size > MAX_SCHEMAS)
      throw new UnreadableSchema(`its schema has more than ${MAX_SCHEMAS} parts`);
    if (depth > MAX_SCHEMA_DEPTH)
      throw new UnreadableSchema(`its schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
    this.#places.add(`#${place}`);
    if (typeof given === 'boolean') return given;
    if (!isFields(given)) throw new UnreadableSchema(`${shownPlace(place)} is not a schema`);
    const schema: Record<string, JsonValue | SchemaPart> = {};
    for (const [keyword, value] of Object.entries(given as JsonObject)) {
      const at = `${place}/${pointerPart(keyword)}`;
      if (value === undefined) continue;
      if (ONE.has(keyword)) schema[keyword] = this.read(value, at, depth + 1);
      else if (LISTS.has(keyword)) schema[keyword] = this.#list(value, at, depth);
      else if (NAMED.has(keyword)) schema[keyword] = this.#named(keyword, value, at, depth);
      else if (PLAIN.has(keyword)) schema[keyword] = this.#plain(keyword, value, at);
      else if (keyword === '$id' && place !== '')
        throw new UnreadableSchema(`${shownPlace(place)} is a document of its own`);
      else if (NOT_UNDERSTOOD.has(keyword))
        throw new UnreadableSchema(`${shownPlace(place)} uses ${keyword}`);
    }
    return schema;
  }

  /** Checks that every reference resolves to a schema of the document. */
  resolve(): void {
    for (const reference of this.#references) {
      if (!this.#places.has(decoded(reference)))
        throw new UnreadableSchema(
          `its schema refers to ${JSON.stringify(reference.slice(0, 100))}, which it does not have`,
        );
    }
  }

  #list(value: JsonValue, place: string, depth: number): readonly Schema[] {
    if (!Array.isArray(value) || value.length === 0)
      throw new UnreadableSchema(`${shownPlace(place)} is not a list of schemas`);
    return value.map((item, index) => this.read(item, `${place}/${index}`, depth + 1));
  }

  #named(
    keyword: string,
    value: JsonValue,
    place: string,
    depth: number,
  ): { readonly [name: string]: Schema } {
    if (!isFields(value))
      throw new UnreadableSchema(`${shownPlace(place)} is not an object of schemas`);
    const entries = Object.entries(value).map(([name, item]) => {
      this.#count(name.length);
      if (keyword === 'patternProperties') this.#pattern(name);
      return [name, this.read(item, `${place}/${pointerPart(name)}`, depth + 1)] as const;
    });
    return Object.fromEntries(entries);
  }

  #plain(keyword: string, value: JsonValue, place: string): JsonValue {
    if (PLAIN.get(keyword)?.(value) !== true)
      throw new UnreadableSchema(`${shownPlace(place)} is not a valid value`);
    this.#value(value, 0);
    if (keyword === '$ref') this.#references.add(value as string);
    if (keyword === '$anchor') this.#places.add(`#${value as string}`);
    if (keyword === 'pattern') this.#pattern(value as string);
    if (keyword === 'uniqueItems' && value === true) this.comparesItems = true;
    return value;
  }

  #pattern(pattern: string): void {
    this.patterns.add(pattern);
    if (this.patterns.size > MAX_PATTERNS)
      throw new UnreadableSchema(`its schema has more than ${MAX_PATTERNS} expressions`);
  }

  #value(value: JsonValue, depth: number): void {
    if (depth > MAX_JSON_DEPTH)
      throw new UnreadableSchema('a value in its schema is nested too deeply');
    this.#count(typeof value === 'string' ? value.length : 1);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, inner] of Object.entries(value)) {
      this.#count(name.length);
      this.#value(inner as JsonValue, depth + 1);
    }
  }

  #count(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MAX_SCHEMA_CHARACTERS)
      throw new UnreadableSchema(`its schema is longer than ${MAX_SCHEMA_CHARACTERS} characters`);
  }
}

/** The reference as a location: without the escapes of a URL. */
function decoded(reference: string): string {
  if (!reference.startsWith('#'))
    throw new UnreadableSchema('its schema refers to another document');
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

function shownPlace(place: string): string {
  const inside = place === '' ? '' : ` at ${JSON.stringify(place.slice(0, 100))}`;
  return `its schema${inside}`;
}

function pointerPart(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}

const TYPES = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);

function isText(value: JsonValue): boolean {
  return typeof value === 'string';
}

function isTexts(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.every(isText);
}

function isNumber(value: JsonValue): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: JsonValue): boolean {
  return typeof value === 'number' && value >= 0;
}

function isType(value: JsonValue): boolean {
  return typeof value === 'string' && TYPES.has(value);
}

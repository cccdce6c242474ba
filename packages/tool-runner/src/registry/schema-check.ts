import { OrionError } from '@orion/contracts';
import type { JsonObject, JsonValue, PatternMatcher } from '@orion/contracts';
import { dereference, validate } from '@cfworker/json-schema';
import type { OutputUnit, Schema as LibrarySchema } from '@cfworker/json-schema';

import { argumentsDoNotFit } from './misfit.ts';
import { NAMED } from './schema-document.ts';
import type { Schema, SchemaDocument } from './schema-document.ts';

/**
 * Checks arguments against a tool's JSON Schema. The validator interprets the schema and generates no code.
 *
 * 1. The work is limited in advance by the size of schema and arguments, and while it runs by the number of
 *    references that are followed: a schema that refers to itself twice would double the work at each level.
 * 2. Regular expressions are matched first, each in its own thread with a time limit. In the schema that the
 *    validator sees, they are replaced by the texts that matched.
 */
export type SchemaCheck = (args: JsonObject) => Promise<void>;

const MOST_WORK = 20_000_000;
const MOST_REFERENCES = 50_000;
const MOST_COMPARED = 3000;
const MOST_MATCHES = 5000;

export function createSchemaCheck(
  toolName: string,
  { schema, patterns, size, comparesItems }: SchemaDocument,
  matcher: PatternMatcher | undefined,
): SchemaCheck {
  return async (args) => {
    const census = countValue(args);
    if (size * census.values > MOST_WORK || (comparesItems && census.longestList > MOST_COMPARED)) {
      throw argumentsDoNotFit(toolName, ['they are too many to be checked']);
    }
    const fitting = await matchPatterns(toolName, patterns, census.texts, matcher);
    const checked = run(patterns.length === 0 ? schema : withTexts(schema, fitting), args);
    if (checked.length > 0) throw argumentsDoNotFit(toolName, checked);
  };
}

function run(schema: Schema, args: JsonObject): readonly string[] {
  const known = dereference(structuredClone(schema) as LibrarySchema);
  const root = known[Object.keys(known)[0] ?? ''];
  if (root === undefined) throw new Error('a schema has no root');
  let followed = 0;
  const counted = new Proxy(known, {
    get(target, name) {
      followed += 1;
      if (followed > MOST_REFERENCES) throw new RangeError('too many references were followed');
      return Reflect.get(target, name) as unknown;
    },
  });
  try {
    const { valid, errors } = validate(args, root, '2020-12', counted, false);
    return valid ? [] : issuesOf(errors);
  } catch (error) {
    // Ours, or the engine's for a schema that recurses without descending into the value.
    if (!(error instanceof RangeError)) throw error;
    return ['their schema refers to itself too often to be checked'];
  }
}

/** Keywords whose errors only say that something inside them is wrong. */
const AROUND = new Set([
  '$ref',
  'additionalItems',
  'allOf',
  'dependentSchemas',
  'else',
  'false',
  'if',
  'items',
  'patternProperties',
  'prefixItems',
  'properties',
  'then',
]);

function issuesOf(errors: readonly OutputUnit[]): readonly string[] {
  const own = errors.filter(({ keyword }) => !AROUND.has(keyword));
  // The only error is a value that is not allowed at all.
  const reported = own.length === 0 ? errors.filter(({ keyword }) => keyword === 'false') : own;
  return [...new Set(reported.map(issueOf))];
}

function issueOf({ instanceLocation, keyword, error }: OutputUnit): string {
  const path = instanceLocation
    .replace(/^#\/?/, '')
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.');
  const words = keyword === 'false' ? 'may not be there' : error.replace(/\.$/, '');
  return path === '' ? words : `${path}: ${words}`;
}

type Census = { values: number; longestList: number; readonly texts: Set<string> };

function countValue(value: JsonValue): Census {
  const census: Census = { values: 0, longestList: 0, texts: new Set() };
  const visit = (inner: JsonValue): void => {
    census.values += 1;
    if (typeof inner === 'string') census.texts.add(inner);
    if (typeof inner !== 'object' || inner === null) return;
    if (Array.isArray(inner)) census.longestList = Math.max(census.longestList, inner.length);
    else for (const name of Object.keys(inner)) census.texts.add(name);
    for (const each of Object.values(inner)) visit(each as JsonValue);
  };
  visit(value);
  return census;
}

/** For each expression, the texts that it matches. */
async function matchPatterns(
  toolName: string,
  patterns: readonly string[],
  texts: ReadonlySet<string>,
  matcher: PatternMatcher | undefined,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const fitting = new Map<string, readonly string[]>();
  if (patterns.length === 0) return fitting;
  if (matcher === undefined) throw new Error('a schema has expressions, and nothing matches them');
  if (patterns.length * texts.size > MOST_MATCHES)
    throw argumentsDoNotFit(toolName, ['they have too many texts to be checked']);
  for (const pattern of patterns) {
    const search = await matcher.open(pattern);
    try {
      const found: string[] = [];
      // Match all texts at once, within one time limit, and one by one only if some of them match.
      const { count } = await search.match([...texts]);
      if (count > 0) {
        for (const text of texts) if ((await search.match([text])).count > 0) found.push(text);
      }
      fitting.set(pattern, found);
    } catch (error) {
      if (!OrionError.isInstance(error)) throw error;
      throw argumentsDoNotFit(toolName, [
        `an expression of its schema cannot be matched: ${error.message}`,
      ]);
    } finally {
      await search.close();
    }
  }
  return fitting;
}

/** The schema with each expression replaced by a harmless one that matches exactly the texts it matched. */
function withTexts(schema: Schema, fitting: ReadonlyMap<string, readonly string[]>): Schema {
  const only = (pattern: string): string => {
    const texts = fitting.get(pattern) ?? [];
    return texts.length === 0 ? '(?!)' : `^(?:${texts.map(escaped).join('|')})$`;
  };
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([keyword, inner]: [string, unknown]) => {
        if (VALUES.has(keyword)) return [keyword, inner];
        if (keyword === 'pattern' && typeof inner === 'string') return [keyword, only(inner)];
        if (NAMED.has(keyword)) return [keyword, named(keyword, inner as object)];
        return [keyword, replaced(inner)];
      }),
    );
  };
  const named = (keyword: string, schemas: object): object =>
    Object.fromEntries(
      Object.entries(schemas).map(([name, inner], index) => [
        // Two expressions may match the same texts but must remain two keys.
        keyword === 'patternProperties' ? `${only(name)}${'(?:)'.repeat(index)}` : name,
        replaced(inner),
      ]),
    );
  return replaced(schema) as Schema;
}

const VALUES = new Set(['const', 'enum']);

function escaped(text: string): string {
  return text.replaceAll(/[\^$\\.*+?()[\]{}|/]/g, String.raw`\$&`);
}

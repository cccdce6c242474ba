/**
 * What the `tool_outputs` tools answer about a JSON document. Pure: the document and the question in, the answer out.
 *
 * 1. Paths are JSONPath as RFC 9535 defines it; nothing in one is evaluated as code, and only own members are reached.
 * 2. An answer is a function of the document and the question: a random sample is one of its seed.
 * 3. What cannot be answered throws `TraversalError`, whose message is written for the model.
 */
import type { JSONPathNode } from 'json-p3';
import type { JsonObject, JsonValue } from '@orion/contracts';

import { describe } from './description.ts';
import { compile, nodesAt, TraversalError, valueOf } from './json-path.ts';
import {
  article,
  childrenOf,
  isArray,
  isContainer,
  isObject,
  ownMembers,
  typeOf,
} from './json-types.ts';
import { chosen } from './sampling.ts';
import type { SamplingMethod } from './sampling.ts';

export type Question =
  | { readonly kind: 'read' }
  | ({ readonly kind: 'stats' } & StatsQuestion)
  | ({ readonly kind: 'extract' } & ExtractQuestion)
  | ({ readonly kind: 'count' } & CountQuestion)
  | ({ readonly kind: 'sample' } & SampleQuestion);

export type StatsQuestion = {
  /** Of these places only; of the whole document when left out. */
  readonly paths?: readonly string[];
  /** How deep the structure is described: 1 to 10. */
  readonly max_depth?: number;
  readonly include_schema?: boolean;
};

export type ExtractQuestion = {
  readonly paths: readonly string[];
  /** All matches in one list, instead of a list for each path. */
  readonly flatten?: boolean;
  /** Each match with its own normalized path. */
  readonly include_paths?: boolean;
  readonly default_value?: JsonValue;
};

export type CountQuestion = {
  readonly queries: readonly {
    /** The path when left out. */
    readonly name?: string;
    readonly path: string;
    readonly count?: 'array_length' | 'object_keys' | 'matches' | 'nested_total';
    /** An RFC 9535 filter such as `@.status == 'open'`: only what it holds for is counted. */
    readonly filter?: string;
  }[];
};

export type SampleQuestion = {
  readonly path?: string;
  readonly size?: number;
  readonly method?: SamplingMethod;
  readonly seed?: number;
  readonly stride?: number;
  readonly strata_path?: string;
};

const DEFAULT_DEPTH = 5;
const DEFAULT_SAMPLE_SIZE = 10;

export function answer(document: JsonValue, question: Question): JsonObject {
  switch (question.kind) {
    case 'read':
      return { output: document };
    case 'stats':
      return stats(document, question);
    case 'extract':
      return extract(document, question);
    case 'count':
      return count(document, question);
    case 'sample':
      return sample(document, question);
    default:
      return question satisfies never;
  }
}

/** A stored `null` is a match; a path without one is missing. */
function extract(document: JsonValue, question: ExtractQuestion): JsonObject {
  const { paths, flatten = false, include_paths: withPaths = false } = question;
  const found = paths.map((path) => ({ path, nodes: nodesAt(document, path) }));
  const shown = (node: JSONPathNode): JsonValue =>
    withPaths ? { path: node.path, value: valueOf(node) } : valueOf(node);
  const missing = found.filter(({ nodes }) => nodes.length === 0).map(({ path }) => path);
  const hasDefault = question.default_value !== undefined;
  const fallback = question.default_value ?? null;
  const extracted = flatten
    ? found.flatMap(({ path, nodes }) => {
        if (nodes.length > 0) return nodes.map(shown);
        if (!hasDefault) return [];
        return [withPaths ? { path, value: fallback } : fallback];
      })
    : ownMembers(
        found.map(({ path, nodes }) => [path, nodes.length === 0 ? fallback : nodes.map(shown)]),
      );
  return { extracted, missing_paths: missing };
}

function count(document: JsonValue, { queries }: CountQuestion): JsonObject {
  const names = queries.map(({ name, path }) => name ?? path);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new TraversalError(
      `Two queries have the name ${JSON.stringify(twice)}.`,
      'Give each query a name of its own.',
    );
  }
  const counts = queries.map((query) => countOf(document, query));
  return {
    counts: ownMembers(names.map((name, at) => [name, counts[at] ?? 0])),
    total: counts.reduce((sum, each) => sum + each, 0),
  };
}

function countOf(
  document: JsonValue,
  { path, count: kind = 'array_length', filter }: CountQuestion['queries'][number],
): number {
  const values = nodesAt(document, path).map(valueOf);
  const holds = filter === undefined ? null : compile(`$[?${filter}]`);
  if (filter !== undefined && hasRoot(filter)) {
    throw new TraversalError(
      `The filter ${JSON.stringify(filter)} names the document ($), which it cannot see.`,
      'Write it into the path, such as $.items[?@.price > $.limit], and count the matches.',
    );
  }
  const among = (children: JsonValue): number =>
    holds === null ? childrenOf(children).length : holds.query(children as never).length;
  if (kind === 'matches') return among(values);
  const wanted = { array_length: isArray, object_keys: isObject, nested_total: isContainer }[kind];
  const other = values.find((value) => !wanted(value));
  if (other !== undefined) {
    throw new TraversalError(
      `${kind} cannot count ${path}: it holds ${article(typeOf(other))}.`,
      'Count its matches instead, or name the path of an array or object; tool_outputs.stats shows the structure.',
    );
  }
  return values.reduce<number>((sum, value) => sum + among(value), 0);
}

/** Whether a filter has a `$` outside of its strings. */
function hasRoot(filter: string): boolean {
  return filter.replaceAll(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/gu, '').includes('$');
}

function sample(document: JsonValue, question: SampleQuestion): JsonObject {
  const { path = '$', method = 'random', size = DEFAULT_SAMPLE_SIZE, seed = 0 } = question;
  const nodes = nodesAt(document, path).map(valueOf);
  const [only] = nodes;
  // Several matches are the items, also where there is but one.
  const isOne = nodes.length === 1 && compile(path).singularQuery();
  const items = isOne && isArray(only) ? only : nodes;
  if (items === nodes && isOne) {
    throw new TraversalError(
      `There is nothing to sample at ${path}: it holds ${article(typeOf(only ?? null))}.`,
      'Name the path of an array, or one with several matches such as $.items[*].',
    );
  }
  const total = items.length;
  const indices =
    size >= total
      ? [...items.keys()]
      : chosen(items, { ...question, method, size, seed }).toSorted((a, b) => a - b);
  return {
    path,
    method,
    ...(method === 'random' || method === 'stratified' ? { seed } : {}),
    total,
    sample_size: indices.length,
    indices,
    items: indices.map((index) => items[index] ?? null),
    ...(size > total ? { warning: `There are only ${total} items; all of them are here.` } : {}),
  };
}

function stats(document: JsonValue, question: StatsQuestion): JsonObject {
  const { paths, max_depth: depth = DEFAULT_DEPTH, include_schema: withSchema = false } = question;
  if (paths === undefined) return describe([document], depth, withSchema);
  return {
    paths: ownMembers(
      paths.map((path) => {
        const values = nodesAt(document, path).map(valueOf);
        return [path, { matches: values.length, ...describe(values, depth, withSchema) }];
      }),
    ),
  };
}

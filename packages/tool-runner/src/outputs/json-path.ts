import { JSONPathEnvironment } from 'json-p3';
import type { JSONPathNode, JSONPathQuery } from 'json-p3';

import type { JsonValue } from '@orion/contracts';

const MAX_MATCHES = 1_000_000;

/** A question that cannot be answered, in words for the model that asked. */
export class TraversalError extends Error {
  override readonly name = 'TraversalError';
  readonly suggestion: string;

  constructor(message: string, suggestion: string) {
    super(message);
    this.suggestion = suggestion;
  }
}

const environment = new JSONPathEnvironment();

export function compile(path: string): JSONPathQuery {
  try {
    return environment.compile(path);
  } catch (error) {
    throw new TraversalError(
      `The path ${JSON.stringify(path)} is not a JSONPath: ${error instanceof Error ? error.message : String(error)}`,
      'A path begins with $, such as $.items[0].name, $.items[*].id or $..name.',
    );
  }
}

/**
 * The matches of a path. They are taken one by one, so that too many of them are refused before they are all in memory:
 * a thread that runs out of it can take the process with it.
 */
export function nodesAt(document: JsonValue, path: string): readonly JSONPathNode[] {
  const nodes: JSONPathNode[] = [];
  for (const node of compile(path).lazyQuery(document as never)) {
    if (nodes.length === MAX_MATCHES) {
      throw new TraversalError(
        `The path ${JSON.stringify(path)} has more than ${MAX_MATCHES} matches.`,
        'Ask for a smaller part: a path without "..", or a deeper place.',
      );
    }
    nodes.push(node);
  }
  return nodes;
}

export const valueOf = (node: JSONPathNode): JsonValue => node.value as JsonValue;

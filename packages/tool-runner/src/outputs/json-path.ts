import { JSONPathEnvironment } from 'json-p3';
import type { JSONPathNode, JSONPathQuery } from 'json-p3';

import type { JsonValue } from '@orion/contracts';

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

export function nodesAt(document: JsonValue, path: string): readonly JSONPathNode[] {
  return compile(path).query(document as never).nodes;
}

export const valueOf = (node: JSONPathNode): JsonValue => node.value as JsonValue;

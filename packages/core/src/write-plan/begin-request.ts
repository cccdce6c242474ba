/** Reads the arguments of begin. Its errors say what the model has to do. */
import { BEGIN_TOOL_NAME, OrionError, WRITE_OPERATIONS } from '@orion/contracts';
import type { EditLocation, JsonObject, SessionHandle, WriteOperation } from '@orion/contracts';

import { listed, readLocation } from './parse-plan.ts';

export type BeginRequest = {
  readonly intent: string;
  readonly target_file: string;
  readonly operation: WriteOperation;
  /** For insert and replace only. */
  readonly location?: EditLocation;
  readonly final_newline: boolean;
  /** For append. */
  readonly start_on_new_line?: boolean;
  /** For create and overwrite. */
  readonly keep_leading_blank_lines?: boolean;
  /**
   * For a program that uploads the text as bytes: the id of the session, a lower-case UUID v4. No model can ask for
   * this.
   */
  readonly upload?: { readonly sessionId: string };
};

export type BegunSession = { readonly handle: SessionHandle; readonly result: JsonObject };

const CONTENT_LIKE = new Set([
  'content',
  'raw_content',
  'content_block',
  'text',
  'file_content',
  'body',
  'data',
]);

/** Throws CONTENT_IN_ARGUMENTS, INVALID_OPERATION or INVALID_TOOL_ARGUMENTS. */
export function readBeginRequest(args: JsonObject): BeginRequest {
  for (const key of Object.keys(args)) {
    if (CONTENT_LIKE.has(key)) {
      throw new OrionError({
        code: 'CONTENT_IN_ARGUMENTS',
        message: `Leave out "${key}": call ${BEGIN_TOOL_NAME} with intent, target_file and operation only, then write the content as your next message, as the result of the call says.`,
      });
    }
  }
  const operation = args['operation'];
  if (!isOperation(operation)) {
    throw new OrionError({
      code: 'INVALID_OPERATION',
      message: `Invalid operation type. Must be ${listed(WRITE_OPERATIONS)}.`,
    });
  }
  const location = locationOf(operation, args['location']);
  return {
    intent: requiredText(args, 'intent'),
    target_file: requiredText(args, 'target_file'),
    operation,
    ...(location === undefined ? {} : { location }),
    final_newline: flag(args, 'final_newline') ?? true,
    ...(flag(args, 'start_on_new_line') === true ? { start_on_new_line: true } : {}),
    ...(flag(args, 'keep_leading_blank_lines') === true ? { keep_leading_blank_lines: true } : {}),
  };
}

/** Two calls of begin in one turn are the same call if this is equal. */
export function begunSignature(args: JsonObject): JsonObject {
  const operation = args['operation'];
  const edits = operation === 'insert' || operation === 'replace';
  return {
    target_file: args['target_file'] ?? null,
    operation: operation ?? null,
    ...(edits ? { location: { ...readLocation(args['location'], operation) } } : {}),
    // The same text may be appended twice on purpose; the intent distinguishes the two calls.
    ...(operation === 'append' ? { intent: args['intent'] ?? null } : {}),
  };
}

function locationOf(operation: WriteOperation, value: unknown): EditLocation | undefined {
  if (operation === 'insert' || operation === 'replace') return readLocation(value, operation);
  if (value === undefined || value === null) return undefined;
  throw new OrionError({
    code: 'INVALID_OPERATION',
    message: `location belongs to insert and replace, not to ${operation}.`,
    hint: 'Leave location out, or choose insert or replace.',
  });
}

function isOperation(value: unknown): value is WriteOperation {
  return WRITE_OPERATIONS.some((operation) => operation === value);
}

function flag(args: JsonObject, key: string): boolean | undefined {
  // Some models name every argument, with null for those that they leave out.
  const value = args[key] ?? undefined;
  if (value === undefined || typeof value === 'boolean') return value;
  throw new OrionError({
    code: 'INVALID_TOOL_ARGUMENTS',
    message: `${key} must be true or false`,
  });
}

function requiredText(args: JsonObject, key: string): string {
  const value = args[key];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new OrionError({ code: 'INVALID_TOOL_ARGUMENTS', message: `${key} is required` });
}

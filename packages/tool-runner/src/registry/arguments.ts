import { OrionError, isFields, jsonErrorPosition, nestsDeeper } from '@orion/contracts';
import type { JsonObject, JsonValue, ToolCall } from '@orion/contracts';

/**
 * From the text of a call's arguments to a JSON object, or to an error that says where it fails.
 *
 * 1. Nothing is repaired, and nothing becomes `{}` but arguments that are empty (R131, R147).
 * 2. The text is at most as long and as deep as the limits say before anything recursive sees it.
 */

export const MAX_ARGUMENT_BYTES: number = 1024 * 1024;
export const MAX_ARGUMENT_DEPTH: number = 32;

/** Throws ARGUMENTS_TOO_LARGE or INVALID_TOOL_ARGUMENTS. */
export function parseArguments(call: ToolCall, maxBytes: number): JsonObject {
  const text = call.arguments;
  // A text has at least as many bytes as UTF-16 units, so a long one need not be encoded to be refused.
  if (text.length > maxBytes || new TextEncoder().encode(text).length > maxBytes) {
    throw new OrionError({
      code: 'ARGUMENTS_TOO_LARGE',
      message: `The arguments have ${text.length} characters; at most ${maxBytes} bytes are allowed`,
      details: { length: text.length, max_bytes: maxBytes },
    });
  }
  if (call.state === 'cut') throw invalid('end before their JSON does', text, text.length);
  if (call.state === 'malformed') throw invalid('are not a JSON object', text, errorPosition(text));
  if (text.trim() === '') return {};
  if (nestsDeeper(text, MAX_ARGUMENT_DEPTH)) {
    throw invalid(`are nested deeper than ${MAX_ARGUMENT_DEPTH} levels`, text, null);
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid('are not valid JSON', text, jsonErrorPosition(text));
  }
  if (!isFields(value)) throw invalid('are not a JSON object', text, 0);
  if (namesPrototype(value)) throw invalid('have a key __proto__', text, null);
  return value as JsonObject;
}

function invalid(why: string, text: string, position: number | null): OrionError {
  const at = position === null ? '' : ` at position ${position}`;
  return new OrionError({
    code: 'INVALID_TOOL_ARGUMENTS',
    message: `The arguments (${text.length} characters) ${why}${at}; the tool was not run.`,
    details: { length: text.length, position },
  });
}

/** Null where the text is JSON after all, but not an object. */
function errorPosition(text: string): number | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    return jsonErrorPosition(text);
  }
}

/** JSON may name a key `__proto__`; code that copies such an object would change its prototype instead. */
function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  return Object.values(value as Record<string, JsonValue>).some(namesPrototype);
}

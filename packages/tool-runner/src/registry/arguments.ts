import { OrionError, isFields, jsonErrorPosition, nestsDeeper } from '@orion/contracts';
import type { JsonObject, JsonValue, ToolCall } from '@orion/contracts';

/**
 * Parses the arguments of a call into a JSON object, or throws an error that says where they are invalid.
 *
 * 1. Nothing is repaired, and only empty arguments become `{}` (R131, R147).
 * 2. Length and depth are checked before any recursive code sees the text.
 */

export const MAX_ARGUMENT_BYTES: number = 1024 * 1024;
export const MAX_ARGUMENT_DEPTH: number = 32;

/** Throws ARGUMENTS_TOO_LARGE or INVALID_TOOL_ARGUMENTS. */
export function parseArguments(call: ToolCall, maxBytes: number): JsonObject {
  const text = call.arguments;
  // A text has at least as many bytes as UTF-16 units, so a long text can be refused without
  // encoding it.
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

/** Null if the text is valid JSON but not an object. */
function errorPosition(text: string): number | null {
  try {
    JSON.parse(text);
    return null;
  } catch {
    return jsonErrorPosition(text);
  }
}

/** JSON may contain a key `__proto__`. Code that copies such an object would change the prototype of the copy. */
function namesPrototype(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Object.hasOwn(value, '__proto__')) return true;
  return Object.values(value as Record<string, JsonValue>).some(namesPrototype);
}

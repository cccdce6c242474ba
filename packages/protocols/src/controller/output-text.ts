import { isFields, nestsDeeper } from '@orion/contracts';
import type { JsonObject } from '@orion/contracts';

/** Deeper output is rejected, because later code walks over it recursively. */
export const MAX_DEPTH: number = 32;
const MAX_LENGTH = 1024 * 1024;

/**
 * Reads the object in a model's output. The whole trimmed text must be JSON, or one code fence around JSON. Prose
 * around it makes it invalid (R197), because a quotation in an answer must not become an action. Returns a string
 * that says what is wrong.
 */
export function readOutput(text: string): JsonObject | string {
  const body = withoutFence(text.trim());
  if (body === '') return 'there is no output';
  if (body.length > MAX_LENGTH) return `longer than ${MAX_LENGTH} characters`;
  if (nestsDeeper(body, MAX_DEPTH)) return `nested deeper than ${MAX_DEPTH} levels`;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'not one JSON object and nothing else';
  }
  return isFields(value) ? (value as JsonObject) : 'not a JSON object';
}

function withoutFence(text: string): string {
  const fenced = /^```[^\n`]*\n([\s\S]*?)\n?```$/.exec(text);
  return (fenced?.[1] ?? text).trim();
}

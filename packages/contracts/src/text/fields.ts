import type { JsonObject, JsonValue } from '../json.ts';

/** A JSON object from outside whose fields have not been checked. */
export type Fields = { readonly [name: string]: unknown };

export function isFields(value: JsonValue | undefined): value is JsonObject;
export function isFields(value: unknown): value is Fields;
export function isFields(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The fields of a JSON object; null for any other text. */
export function parseFields(text: string): Fields | null {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : null;
  } catch {
    return null;
  }
}

export function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

import { isFields } from '@orion/contracts';
import type { JsonObject, JsonValue } from '@orion/contracts';

/** The value if it is an object, otherwise an empty one. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isFields(value) ? value : {};
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

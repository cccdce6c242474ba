import type { JsonObject, JsonValue } from '@orion/contracts';

export type JsonType = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

export function typeOf(value: JsonValue): JsonType {
  if (value === null) return 'null';
  if (isArray(value)) return 'array';
  return typeof value as Exclude<JsonType, 'null' | 'array'>;
}

export function article(type: JsonType): string {
  if (type === 'null') return 'null';
  return `${type === 'array' || type === 'object' ? 'an' : 'a'} ${type}`;
}

export function isArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !isArray(value);
}

export function isContainer(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null;
}

export function childrenOf(value: JsonValue): readonly JsonValue[] {
  if (isArray(value)) return value;
  return isObject(value) ? (Object.values(value) as JsonValue[]) : [];
}

/** Any name is a name here, `__proto__` included. */
export function ownMembers(entries: readonly (readonly [string, JsonValue])[]): JsonObject {
  return Object.fromEntries(entries);
}

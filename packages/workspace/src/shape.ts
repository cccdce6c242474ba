/** Checks the fields of parsed JSON files, which can contain anything. */
import { isFields } from '@orion/contracts';
import type { Fields } from '@orion/contracts';

export type Check = (value: unknown) => boolean;

/** A check for each field of the type, optional ones included. Other fields are ignored. */
export type Shape<T> = { readonly [K in keyof T]-?: Check };

/** The same check for several fields. */
export function each<K extends string>(check: Check, ...names: readonly K[]): Record<K, Check> {
  return Object.fromEntries(names.map((name) => [name, check])) as Record<K, Check>;
}

export function hasShape<T extends object>(value: unknown, shape: Shape<T>): value is Fields & T {
  if (!isFields(value)) return false;
  return Object.entries<Check>(shape).every(([name, check]) => check(value[name]));
}

export function shaped<T extends object>(shape: Shape<T>): Check {
  return (value) => hasShape(value, shape);
}

export const isText: Check = (value) => typeof value === 'string';
export const isBoolean: Check = (value) => typeof value === 'boolean';
export const isTime: Check = (value) =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value));

export function oneOf(...values: readonly unknown[]): Check {
  return (value) => values.includes(value);
}

/** Accepts these names. The type ensures that none is missing. */
export function keyOf<K extends string>(names: Readonly<Record<K, true>>): Check {
  return (value) => typeof value === 'string' && Object.hasOwn(names, value);
}

export function optional(check: Check): Check {
  return (value) => value === undefined || check(value);
}

export function orNull(check: Check): Check {
  return (value) => value === null || check(value);
}

export function listOf(check: Check): Check {
  return (value) => Array.isArray(value) && value.every(check);
}

export function matching(pattern: RegExp): Check {
  return (value) => typeof value === 'string' && pattern.test(value);
}

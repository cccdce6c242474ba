import { createHash } from 'node:crypto';
import type { JsonValue, Redact } from '@orion/contracts';
import { redactedStart } from './redaction.ts';

/**
 * Any value as JSON (R226).
 *
 * 1. Never throws: whatever a value does when it is read becomes part of the result.
 * 2. Never refuses: a value that JSON has no form for becomes a text or an object with a `type` that names it.
 * 3. Bounded: depth, number of nodes and length of texts have limits, and `truncated` says that one was reached. Text is
 *    redacted before it is cut, because a truncated secret would not be recognised.
 * 4. Changes nothing.
 */
export type SafeJson = { readonly value: JsonValue; readonly truncated: boolean };

export const MAX_DEPTH = 32;
/** UTF-16 units of one text; a longer one is kept as its beginning, length and hash. */
export const MAX_TEXT: number = 64 * 1024;
const TEXT_START = 1024;
const MAX_NODES = 10_000;
/** UTF-16 units of all texts together: more than an event can hold, so the rest need not be read. */
const MAX_TOTAL_TEXT = 256 * 1024;
const MAX_KEY = 256;

export function toSafeJson(value: unknown, hide: Redact = (text) => text): SafeJson {
  const walk = new Walk(hide);
  return { value: walk.convert(value, 0), truncated: walk.truncated };
}

/** Length and sha256 of a text that is cut; lone surrogates are hashed as U+FFFD. */
export function textFacts(text: string): { length: number; sha256: string } {
  return { length: text.length, sha256: createHash('sha256').update(text).digest('hex') };
}

class Walk {
  truncated = false;
  #nodes = 0;
  #textLength = 0;
  readonly #open = new Set<object>();
  readonly #hide: Redact;

  constructor(hide: Redact) {
    this.#hide = hide;
  }

  convert(value: unknown, depth: number): JsonValue {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        // JSON text has no -0, and the stored value must match its text.
        return Number.isFinite(value) ? value + 0 : String(value);
      case 'boolean':
        return value;
      case 'bigint':
        return this.#text(`${String(value)}n`);
      case 'undefined':
        return '[undefined]';
      case 'symbol':
        return this.#text(`[symbol ${value.description ?? ''}]`);
      case 'function':
        return this.#text(`[function ${nameOf(value)}]`);
      case 'object':
        return value === null ? null : this.#object(value, depth);
    }
  }

  #text(text: string): JsonValue {
    this.#textLength += Math.min(text.length, MAX_TEXT);
    if (text.length <= MAX_TEXT) return text;
    this.truncated = true;
    const start = redactedStart(text, TEXT_START, this.#hide);
    return { type: 'text', truncated: true, ...textFacts(text), start };
  }

  #object(value: object, depth: number): JsonValue {
    if (this.#open.has(value)) return '[circular]';
    if (depth >= MAX_DEPTH) {
      this.truncated = true;
      return '[too deep]';
    }
    this.#open.add(value);
    try {
      return this.#inside(value, depth);
    } catch (error) {
      return this.#text(`[unreadable: ${describeThrown(error, this.#hide)}]`);
    } finally {
      this.#open.delete(value);
    }
  }

  #inside(value: object, depth: number): JsonValue {
    if (Array.isArray(value)) return this.#list(value, value.length, depth);
    if (value instanceof Date) {
      return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString();
    }
    if (value instanceof Error) return this.#error(value, depth);
    if (value instanceof Map) return this.#map(value, depth);
    if (value instanceof Set) {
      return { type: 'Set', values: this.#list(value, value.size, depth + 1) };
    }
    if (ArrayBuffer.isView(value)) {
      return { type: nameOf(value.constructor), length: value.byteLength };
    }
    if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
      return { type: 'ArrayBuffer', length: value.byteLength };
    }
    if (value instanceof RegExp) return this.#text(String(value));
    if (value instanceof Promise || value instanceof WeakMap || value instanceof WeakSet) {
      return `[${nameOf(value.constructor)}]`;
    }
    if (BOXES.some((box) => value instanceof box)) return this.convert(value.valueOf(), depth);
    const converted = this.#ownJson(value, depth);
    return converted ?? this.#record(value, Object.keys(value), depth);
  }

  /** What an object's own `toJSON` returns; if it throws, a note to that effect. */
  #ownJson(value: object, depth: number): JsonValue | undefined {
    let toJson: unknown;
    try {
      toJson = (value as { toJSON?: unknown }).toJSON;
    } catch {
      return undefined;
    }
    if (typeof toJson !== 'function') return undefined;
    try {
      const converted: unknown = toJson.call(value, '');
      return converted === value ? undefined : this.convert(converted, depth + 1);
    } catch (error) {
      return this.#text(`[toJSON threw: ${describeThrown(error, this.#hide)}]`);
    }
  }

  #error(error: Error, depth: number): JsonValue {
    const keys = ['name', 'message', 'code', 'stack', 'cause', 'errors'].filter((key) => {
      const own = readProperty(error, key, this.#hide);
      return !(own.read && own.value === undefined);
    });
    const others = Object.keys(error).filter((key) => !keys.includes(key));
    return this.#record(error, [...keys, ...others], depth);
  }

  #map(map: ReadonlyMap<unknown, unknown>, depth: number): JsonValue {
    const entries: JsonValue[] = [];
    for (const [key, value] of map) {
      if (this.#isFull()) {
        entries.push(`[${map.size - entries.length} more]`);
        break;
      }
      this.#nodes += 1;
      entries.push([this.convert(key, depth + 2), this.convert(value, depth + 2)]);
    }
    return { type: 'Map', entries };
  }

  #list(values: Iterable<unknown>, size: number, depth: number): JsonValue {
    const list: JsonValue[] = [];
    for (const value of values) {
      if (this.#isFull()) {
        list.push(`[${size - list.length} more]`);
        break;
      }
      this.#nodes += 1;
      list.push(this.convert(value, depth + 1));
    }
    return list;
  }

  #record(value: object, keys: readonly string[], depth: number): JsonValue {
    const entries: [string, JsonValue][] = [];
    for (const key of keys) {
      if (this.#isFull()) {
        entries.push(['[more]', keys.length - entries.length]);
        break;
      }
      this.#nodes += 1;
      const property = readProperty(value, key, this.#hide);
      entries.push([
        this.#key(key),
        property.read
          ? this.convert(property.value, depth + 1)
          : this.#text(`[getter threw: ${property.reason}]`),
      ]);
    }
    return Object.fromEntries(entries);
  }

  #key(key: string): string {
    this.#textLength += Math.min(key.length, MAX_KEY);
    if (key.length <= MAX_KEY) return key;
    this.truncated = true;
    return `${redactedStart(key, MAX_KEY, this.#hide)}… (${key.length} characters)`;
  }

  #isFull(): boolean {
    const full = this.#nodes >= MAX_NODES || this.#textLength >= MAX_TOTAL_TEXT;
    if (full) this.truncated = true;
    return full;
  }
}

function readProperty(
  value: object,
  key: string,
  hide: Redact,
):
  | { readonly read: true; readonly value: unknown }
  | { readonly read: false; readonly reason: string } {
  try {
    return { read: true, value: (value as Record<string, unknown>)[key] };
  } catch (error) {
    return { read: false, reason: describeThrown(error, hide) };
  }
}

/** Objects that hold a primitive. */
const BOXES = [String, Number, Boolean, BigInt, Symbol];

/** The name of a function or class; the property may be a getter that throws. */
function nameOf(value: unknown): string {
  try {
    const { name } = value as { name?: unknown };
    return typeof name === 'string' && name !== '' ? name.slice(0, MAX_KEY) : 'anonymous';
  } catch {
    return 'anonymous';
  }
}

/** A few words about what was thrown, which may be anything. */
export function describeThrown(error: unknown, hide: Redact = (text) => text): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return text.length <= MAX_KEY ? text : redactedStart(text, MAX_KEY, hide);
  } catch {
    return 'something that cannot be shown';
  }
}

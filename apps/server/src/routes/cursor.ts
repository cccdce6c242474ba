import { OrionError } from '@orion/contracts';
import type { JsonValue } from '@orion/contracts';

/** A place in a list as clients hand it back: they need not know what it says. */
export function cursorOf(place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(place)).toString('base64url');
}

/** The parts of a cursor, each of the type of the example. Throws REQUEST_INVALID for what is no cursor of this list. */
export function readCursor<const Example extends readonly (string | number)[]>(
  cursor: string,
  example: Example,
): { readonly [Index in keyof Example]: Example[Index] extends string ? string : number } {
  const parts = parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  const fits =
    Array.isArray(parts) &&
    parts.length === example.length &&
    parts.every(
      (part: unknown, index) => typeof part === typeof example[index] && isStorable(part),
    );
  if (!fits)
    throw new OrionError({
      code: 'REQUEST_INVALID',
      message: 'The cursor was not issued by this list.',
    });
  return parts as never;
}

/** What any database can compare with what it has. */
function isStorable(part: unknown): boolean {
  return typeof part === 'string' ? !part.includes('\0') : Number.isSafeInteger(part);
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return null;
  }
}

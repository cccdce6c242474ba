/**
 * Decides whether text can be added to an existing file (R276). All new text is UTF-8; a file with two encodings would
 * not be readable in either.
 */
import { BYTE_ORDER_MARK, OrionError } from '@orion/contracts';
import type { ByteSource, ForeignEncoding, TargetSnapshot } from '@orion/contracts';

/** Warnings of a receipt. A byte order mark is left out unless it begins the file. */
export const MARK_LEFT_OUT = 'byte_order_mark_left_out';
export const JOINED = 'joined_without_newline';
export const ENCODING_CHANGED = 'encoding_changed';

type Known = Pick<TargetSnapshot, 'path' | 'encoding'>;

/** Throws TARGET_NOT_UTF8 if no text can be added to the file. */
export function requireTakesText({ path, encoding }: Known): void {
  if (encoding === undefined || encoding === '8-bit') return;
  throw notUtf8(
    `\`${path}\` is ${NAMES[encoding]}, so text cannot be added to it or replaced in it.`,
    encoding,
  );
}

/** The same bytes. Reading rejects with TARGET_NOT_UTF8 at a byte that would be another character in this file. */
export function fittingText(source: ByteSource, { path, encoding }: Known): ByteSource {
  if (encoding === undefined) return source;
  return async function* ascii(): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of source()) {
      if (chunk.some((byte) => byte > 0x7f)) {
        throw notUtf8(
          `\`${path}\` is ${NAMES[encoding]}, and the text for it is not pure ASCII; nothing was written.`,
          encoding,
        );
      }
      yield chunk;
    }
  };
}

/** Tells the model what its text may contain, or what becomes of the file's encoding. */
export function encodingNote(encoding: ForeignEncoding, replaced: boolean): string {
  return replaced
    ? `The file is ${NAMES[encoding]}; it will be UTF-8.`
    : `The file is ${NAMES[encoding]}: write ASCII characters only.`;
}

const NAMES: Readonly<Record<ForeignEncoding, string>> = {
  'utf-16le': 'UTF-16 (little-endian)',
  'utf-16be': 'UTF-16 (big-endian)',
  'utf-32le': 'UTF-32 (little-endian)',
  'utf-32be': 'UTF-32 (big-endian)',
  binary: 'no text (it holds NUL bytes)',
  '8-bit': 'not UTF-8 (some 8-bit encoding, such as Latin-1)',
};

function notUtf8(message: string, encoding: ForeignEncoding): OrionError {
  return new OrionError({ code: 'TARGET_NOT_UTF8', message, details: { encoding } });
}

/** The same bytes without a leading byte order mark; `left` says whether the last reading found one. */
export function withoutMark(source: ByteSource): {
  readonly source: ByteSource;
  readonly left: () => boolean;
} {
  let left = false;
  async function* unmarked(): AsyncGenerator<Uint8Array, void, undefined> {
    left = false;
    /** The first bytes, until there are enough to decide. */
    let head: Uint8Array | null = new Uint8Array(0);
    for await (const chunk of source()) {
      if (head === null) {
        yield chunk;
        continue;
      }
      const bytes: Uint8Array = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      if (bytes.length < BYTE_ORDER_MARK.length) {
        head = Uint8Array.from(bytes);
        continue;
      }
      head = null;
      left = BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte);
      const rest = left ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes;
      if (rest.length > 0) yield rest;
    }
    if (head !== null && head.length > 0) yield head;
  }
  return { source: unmarked, left: () => left };
}

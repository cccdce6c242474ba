/** Adapts new bytes to the line endings and the byte order mark of the existing file. */
import { BYTE_ORDER_MARK } from '@orion/contracts';
import type { LineEnding } from '@orion/contracts';

/** The same bytes with a byte order mark in front, unless they already have one. */
export async function* withByteOrderMark(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let head: Uint8Array | null = new Uint8Array(0);
  for await (const chunk of source) {
    if (head === null) {
      yield chunk;
      continue;
    }
    head = Buffer.concat([head, chunk]);
    if (head.length < BYTE_ORDER_MARK.length) continue;
    if (!startsWithMark(head)) yield BYTE_ORDER_MARK;
    yield head;
    head = null;
  }
  if (head === null) return;
  yield BYTE_ORDER_MARK;
  if (head.length > 0) yield head;
}

function startsWithMark(bytes: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, index) => bytes[index] === byte);
}

/** How the new bytes of a change are adapted to the existing file. */
export type TextRule = {
  readonly toCrlf: boolean;
  /** Convert only if the new bytes contain no CRLF, because they replace the whole file. */
  readonly onlyPure: boolean;
  readonly keepMark: boolean;
};

export function textRule(
  eol: 'match' | 'as-is',
  old: { readonly exists: boolean; readonly eol: LineEnding; readonly bom: boolean },
  keepsBytes: boolean,
): TextRule {
  const matches = eol === 'match' && old.exists;
  return {
    toCrlf: matches && old.eol === 'crlf',
    onlyPure: !keepsBytes,
    keepMark: matches && old.bom && !keepsBytes,
  };
}

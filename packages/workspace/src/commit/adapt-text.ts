/** New bytes take the line endings and the byte order mark of the file they go into. */
import type { LineEnding } from '@orion/contracts';

const LF = 0x0a;
const CR = 0x0d;
const BOM: Uint8Array = Uint8Array.of(0xef, 0xbb, 0xbf);

/**
 * Turns every LF that no CR precedes into CRLF, however the bytes are split. `last` is the byte that
 * stands before the first chunk, -1 for none.
 */
export class CrlfConverter {
  /** CRLFs that were there already. */
  found = 0;
  #last: number;

  constructor(last: number = -1) {
    this.#last = last;
  }

  /** The chunk itself when there is nothing to convert. */
  push(chunk: Uint8Array): Uint8Array {
    const bare: number[] = [];
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, at + 1)) {
      if ((at === 0 ? this.#last : chunk[at - 1]) === CR) this.found += 1;
      else bare.push(at);
    }
    this.#last = chunk.at(-1) ?? this.#last;
    return bare.length === 0 ? chunk : withCarriageReturns(chunk, bare);
  }
}

function withCarriageReturns(chunk: Uint8Array, before: readonly number[]): Uint8Array {
  const out = new Uint8Array(chunk.length + before.length);
  let from = 0;
  let to = 0;
  for (const at of before) {
    out.set(chunk.subarray(from, at), to);
    to += at - from;
    out[to] = CR;
    to += 1;
    from = at;
  }
  out.set(chunk.subarray(from), to);
  return out;
}

/** The same bytes with a byte order mark before them, unless they begin with one. */
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
    if (head.length < BOM.length) continue;
    if (!startsWithMark(head)) yield BOM;
    yield head;
    head = null;
  }
  if (head === null) return;
  yield BOM;
  if (head.length > 0) yield head;
}

function startsWithMark(bytes: Uint8Array): boolean {
  return BOM.every((byte, index) => bytes[index] === byte);
}

/** How the new bytes of a change are adapted to the file that stands there. */
export type TextRule = {
  readonly toCrlf: boolean;
  /** The conversion is only for bytes without any CRLF: they replace all that there was. */
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

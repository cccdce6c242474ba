/**
 * Where the lines of a growing text are, without the text: it is cut into blocks of whole lines, each of which knows
 * its first line and its bytes.
 *
 * L1  The blocks follow each other without a gap; all but the last have LINES lines.
 * L2  Offsets count bytes of UTF-8, as the server's do, while text is cut as JavaScript cuts it.
 * L3  An append and a rewind cost in proportion to what is appended, or to the block that is cut.
 */
export type LineBlock = {
  /** Counted from 1. */
  readonly firstLine: number;
  /** Line feeds in it. */
  lines: number;
  readonly startByte: number;
  endByte: number;
};

/** Text to add at the end of the block with this index, which may be a new one. */
export type BlockAppend = { readonly index: number; readonly text: string };
/** Blocks from `index + 1` go, and of this block only the first characters stay. */
export type BlockCut = { readonly index: number; readonly keptCharacters: number };

export const LINES = 250;

export class LineBlocks {
  readonly #blocks: LineBlock[] = [];

  get blocks(): readonly LineBlock[] {
    return this.#blocks;
  }

  /** Bytes of the text so far. */
  get bytes(): number {
    return this.#blocks.at(-1)?.endByte ?? 0;
  }

  /** Line feeds so far. */
  get lineFeeds(): number {
    const last = this.#blocks.at(-1);
    return last === undefined ? 0 : last.firstLine - 1 + last.lines;
  }

  append(text: string): readonly BlockAppend[] {
    const appends: BlockAppend[] = [];
    let at = 0;
    while (at < text.length) {
      const block = this.#openBlock();
      const end = endOfLines(text, at, LINES - block.lines);
      const part = text.slice(at, end.at);
      block.lines += end.lines;
      block.endByte += utf8Length(part);
      appends.push({ index: this.#blocks.length - 1, text: part });
      at = end.at;
    }
    return appends;
  }

  /** Takes back everything after this many bytes; null if there is no more than that. */
  rewind(toByte: number, textOf: (index: number) => string): BlockCut | null {
    if (toByte >= this.bytes) return null;
    const index = this.indexAt(toByte);
    const block = this.#blocks[index];
    if (block === undefined) return null;
    const text = textOf(index);
    const keptCharacters = charactersIn(text, toByte - block.startByte);
    const kept = text.slice(0, keptCharacters);
    this.#blocks.length = index + 1;
    block.lines = countLineFeeds(kept);
    block.endByte = block.startByte + utf8Length(kept);
    return { index, keptCharacters };
  }

  /** The block that has the byte after this many; the last one at the end. */
  indexAt(byte: number): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#blocks[middle]?.startByte ?? 0) <= byte) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #openBlock(): LineBlock {
    const last = this.#blocks.at(-1);
    if (last !== undefined && last.lines < LINES) return last;
    const startByte = this.bytes;
    const block = { firstLine: this.lineFeeds + 1, lines: 0, startByte, endByte: startByte };
    this.#blocks.push(block);
    return block;
  }
}

/** Behind the line feed with this number, or the end of the text. */
function endOfLines(text: string, from: number, most: number): { at: number; lines: number } {
  let at = from;
  for (let lines = 0; lines < most; lines += 1) {
    const next = text.indexOf('\n', at);
    if (next === -1) return { at: text.length, lines };
    at = next + 1;
  }
  return { at, lines: most };
}

function countLineFeeds(text: string): number {
  return endOfLines(text, 0, Number.POSITIVE_INFINITY).lines;
}

/** The characters of a text that these bytes hold: whole ones only. */
export function charactersIn(text: string, bytes: number): number {
  let left = bytes;
  let at = 0;
  while (at < text.length) {
    const size = sizeAt(text, at);
    if (size > left) break;
    left -= size;
    at += size === 4 ? 2 : 1;
  }
  return at;
}

export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const size = sizeAt(text, at);
    bytes += size;
    if (size === 4) at += 1;
  }
  return bytes;
}

/** A surrogate without its other half becomes U+FFFD, which has three bytes. */
function sizeAt(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  if (unit < 0xd800 || unit > 0xdbff) return 3;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff ? 4 : 3;
}

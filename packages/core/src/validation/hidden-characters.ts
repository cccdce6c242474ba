import { isAscii } from 'node:buffer';

import { OrionError, isIgnoredWhenDrawn } from '@orion/contracts';
import type { ByteSource } from '@orion/contracts';

import { targetKindOf } from '../write-session/text/target-kind.ts';
import type { TargetKind } from '../write-session/text/target-kind.ts';

/**
 * Characters that a reader does not see and that a compiler or a model reads: text that runs the other way, text in
 * tag characters, blanks without width in a name (B16; Trojan Source, CVE-2021-42574).
 *
 * 1. Nothing is changed: such characters can be meant. They are told, with their lines.
 * 2. In code all of them count. In other text only those that carry a hidden message count, tags and runs of
 *    variation selectors: the others belong to how Arabic, Persian or Hindi is written.
 * 3. What emoji are made of is none: joiners behind a picture, one variation selector, the tags of a flag.
 * 4. The answer does not depend on how the bytes come divided.
 */
export type HiddenCharacter = {
  /** Counted from 1. */
  readonly line: number;
  /** As `U+202E`. */
  readonly code_point: string;
};

export type HiddenCharacters = {
  readonly count: number;
  /** The first 20. */
  readonly places: readonly HiddenCharacter[];
};

const MOST_PLACES = 20;

/** Of a file's text; none where it cannot be read, which its commit tells with a code of its own. */
export async function findHiddenCharacters(
  text: ByteSource,
  target: string,
): Promise<HiddenCharacters> {
  const scan = new HiddenScan(targetKindOf(target));
  try {
    for await (const chunk of text()) scan.add(chunk);
  } catch (error) {
    if (OrionError.isInstance(error)) return { count: 0, places: [] };
    throw error;
  }
  return { count: scan.count, places: scan.places };
}

const LF = 0x0a;

class HiddenScan {
  count = 0;
  readonly places: HiddenCharacter[] = [];
  readonly #isCode: boolean;
  #line = 1;
  /** Of the code point that is being read: what is known of it and how many bytes are missing. */
  #partial = 0;
  #missing = 0;
  /** The code point before; 0 at the start and behind ASCII, which are all alike here. */
  #previous = 0;
  #isStart = true;
  /** How many more tags the flag before may have; a message behind one is longer. */
  #flagTagsLeft = 0;

  constructor(kind: TargetKind) {
    this.#isCode = kind === 'code';
  }

  add(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (isAscii(bytes)) {
      for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) this.#line += 1;
      this.#passAscii();
      return;
    }
    for (let index = 0; index < bytes.length; index += 1) {
      const byte = bytes[index] ?? 0;
      if (byte < 0x80) {
        if (byte === LF) this.#line += 1;
        this.#passAscii();
      } else if (byte < 0xc0) {
        this.#partial = (this.#partial << 6) | (byte & 0x3f);
        this.#missing -= 1;
        if (this.#missing === 0) this.#see(this.#partial);
      } else {
        this.#missing = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
        this.#partial = byte & (0x3f >> this.#missing);
      }
    }
  }

  #passAscii(): void {
    this.#previous = 0;
    this.#isStart = false;
    this.#flagTagsLeft = 0;
  }

  #see(codePoint: number): void {
    const isHidden = this.#isHidden(codePoint);
    if (codePoint === BLACK_FLAG) this.#flagTagsLeft = MOST_FLAG_TAGS;
    else if (!isTag(codePoint)) this.#flagTagsLeft = 0;
    else if (this.#flagTagsLeft > 0) this.#flagTagsLeft -= 1;
    if (isHidden) {
      this.count += 1;
      if (this.places.length < MOST_PLACES) {
        const digits = codePoint.toString(16).toUpperCase().padStart(4, '0');
        this.places.push({ line: this.#line, code_point: `U+${digits}` });
      }
    }
    this.#previous = codePoint;
    this.#isStart = false;
  }

  #isHidden(codePoint: number): boolean {
    if (isTag(codePoint)) return this.#flagTagsLeft === 0;
    if (isVariationSelector(codePoint)) return isVariationSelector(this.#previous);
    if (!this.#isCode) return false;
    if (codePoint === BYTE_ORDER_MARK) return !this.#isStart;
    if (isJoiner(codePoint))
      return this.#previous <= LAST_LATIN || isIgnoredWhenDrawn(this.#previous);
    return isIgnoredWhenDrawn(codePoint);
  }
}

const BLACK_FLAG = 0x1f3f4;
/** A code of at most six letters and digits, and the tag that ends it (Unicode Technical Standard 51). */
const MOST_FLAG_TAGS = 7;
const BYTE_ORDER_MARK = 0xfeff;
/** Up to here scripts know no joiners. */
const LAST_LATIN = 0x024f;

function isTag(codePoint: number): boolean {
  return codePoint >= 0xe0000 && codePoint <= 0xe007f;
}

function isVariationSelector(codePoint: number): boolean {
  return (
    (codePoint >= 0xfe00 && codePoint <= 0xfe0f) || (codePoint >= 0xe0100 && codePoint <= 0xe01ef)
  );
}

function isJoiner(codePoint: number): boolean {
  return codePoint === 0x200c || codePoint === 0x200d;
}

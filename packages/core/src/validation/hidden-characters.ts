import { isAscii } from 'node:buffer';

import { OrionError, isIgnoredWhenDrawn } from '@orion/contracts';
import type { ByteSource } from '@orion/contracts';

import { targetKindOf } from '../write-session/text/target-kind.ts';
import type { TargetKind } from '../write-session/text/target-kind.ts';

/**
 * Finds characters that a reader does not see but a compiler or a model reads: bidirectional overrides, text in tag
 * characters, zero-width characters in a name (B16; Trojan Source, CVE-2021-42574).
 *
 * 1. Nothing is changed, as such characters can be intended. They are reported with their lines.
 * 2. In code all of them count. In other text only tags and runs of variation selectors count, which can carry a hidden
 *    message; the others are needed to write Arabic, Persian or Hindi.
 * 3. The parts of emoji do not count: joiners after a picture, a single variation selector, the tags of a flag.
 * 4. The result does not depend on how the bytes are divided.
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

/** Those of a file's text; none if it cannot be read, which its commit reports with a code of its own. */
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
  /** The code point so far, and how many of its bytes are missing. */
  #partial = 0;
  #missing = 0;
  /** The previous code point; 0 at the start and after ASCII, which need not be told apart. */
  #previous = 0;
  #isStart = true;
  /** How many more tags the preceding flag can have; a hidden message is longer. */
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
/** At most six letters and digits, and the tag that ends them (Unicode Technical Standard 51). */
const MOST_FLAG_TAGS = 7;
const BYTE_ORDER_MARK = 0xfeff;
/** Scripts up to here use no joiners. */
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

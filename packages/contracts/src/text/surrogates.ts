export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The first `limit` code units of a text, or one less if the cut would split a surrogate pair. */
export function cutText(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(limit - 1)) ? limit - 1 : limit);
}

/** How many code points a text has. No list of them is made: that would take many times the memory of the text. */
export function countCodePoints(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index += 1) {
    if (isLowSurrogate(text.charCodeAt(index)) && isHighSurrogate(text.charCodeAt(index - 1))) {
      count -= 1;
    }
  }
  return count;
}

/** The first `limit` code points of a text. */
export function firstCodePoints(text: string, limit: number): string {
  return Array.from(text.slice(0, 2 * limit))
    .slice(0, limit)
    .join('');
}

/**
 * Encodes text as WTF-8: UTF-8 in which a lone surrogate has three bytes of its own (`ED A0 80` to `ED BF BF`), so
 * that it survives a round trip through a file. A UTF-8 encoder would write a replacement character instead.
 */
export function encodeWtf8(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (text.isWellFormed()) return bytes;
  // A lone surrogate was encoded as U+FFFD, which also has three bytes, so only those bytes change.
  let at = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) at += 1;
    else if (unit < 0x800) at += 2;
    else if (isHighSurrogate(unit) && isLowSurrogate(text.charCodeAt(index + 1))) {
      at += 4;
      index += 1;
    } else {
      if (isHighSurrogate(unit) || isLowSurrogate(unit)) {
        bytes[at] = 0xe0 | (unit >> 12);
        bytes[at + 1] = 0x80 | ((unit >> 6) & 0x3f);
        bytes[at + 2] = 0x80 | (unit & 0x3f);
      }
      at += 3;
    }
  }
  return bytes;
}

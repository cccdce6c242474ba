import { sequenceAt } from './utf8-sequence.ts';

/** Bytes as code units for display: an invalid sequence is one unit, shown as an escape. */
export function shownUnits(bytes: Uint8Array): readonly string[] {
  const units: string[] = [];
  let index = 0;
  while (index < bytes.length) {
    const length = sequenceAt(bytes, index, bytes.length, true);
    const end = index + Math.abs(length);
    if (length < 0) units.push(escaped(bytes, index, end));
    else units.push(...decoder.decode(bytes.subarray(index, end)).split(''));
    index = end;
  }
  return units;
}

/** `\ud83d`, `\0`, or `\xc3\x28`. */
export function escaped(bytes: Uint8Array, start: number, end: number): string {
  if (bytes[start] === 0) return '\\0';
  if (end - start === 3 && bytes[start] === 0xed && (bytes[start + 1] ?? 0) >= 0xa0) {
    const unit =
      0xd000 | (((bytes[start + 1] ?? 0) & 0x3f) << 6) | ((bytes[start + 2] ?? 0) & 0x3f);
    return `\\u${unit.toString(16)}`;
  }
  return Buffer.from(bytes.subarray(start, end))
    .toString('hex')
    .replaceAll(/../gu, String.raw`\x$&`);
}

/** The last `count` units, without half of a pair. */
export function lastUnits(units: readonly string[], count: number): string {
  return units
    .slice(-count)
    .join('')
    .replace(/^[\udc00-\udfff]/u, '');
}

export function firstUnits(units: readonly string[], count: number): string {
  return units
    .slice(0, count)
    .join('')
    .replace(/[\ud800-\udbff]$/u, '');
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

import type { InvalidTextCode } from '@orion/contracts';

/**
 * Classifies sequences in bytes that should be UTF-8.
 *
 * An invalid sequence is as long as the WHATWG decoder's (a maximal subpart), with one exception: the three bytes of a
 * lone surrogate are one sequence, as the session store represents one code unit by them.
 */

/**
 * The length of the sequence that starts at `index`: positive if it is valid text, negative if it is invalid, 0 if the
 * bytes up to `end` do not decide it and more may follow (`final` is false). U+0000 is invalid in text.
 */
export function sequenceAt(bytes: Uint8Array, index: number, end: number, final: boolean): number {
  const lead = bytes[index] ?? 0;
  if (lead < 0x80) return lead === 0 ? -1 : 1;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  const cut = final ? -1 : 0;
  if (index + 1 >= end) return cut;
  const second = bytes[index + 1] ?? 0;
  if (lead === 0xed && second >= 0xa0 && second <= 0xbf) {
    if (index + 2 >= end) return cut;
    return isContinuation(bytes[index + 2] ?? 0) ? -3 : -1;
  }
  if (second < lowestSecond(lead) || second > highestSecond(lead)) return -1;
  const length = lengthOf(lead);
  for (let offset = 2; offset < length; offset += 1) {
    if (index + offset >= end) return final ? -offset : 0;
    if (!isContinuation(bytes[index + offset] ?? 0)) return -offset;
  }
  return length;
}

/** Why the sequence at `index` is invalid; `length` is the result of `sequenceAt` without its sign. */
export function invalidCodeOf(
  bytes: Uint8Array,
  index: number,
  length: number,
  end: number,
): InvalidTextCode {
  const lead = bytes[index] ?? 0;
  if (lead === 0) return 'nul';
  if (lead < 0xc0 || lead > 0xfd) return 'unexpected_byte';
  if (lead < 0xc2) return 'overlong';
  if (lead > 0xf4) return 'out_of_range';
  if (lead === 0xed && length === 3) return 'surrogate';
  const second = index + 1 < end ? (bytes[index + 1] ?? 0) : 0;
  if (isContinuation(second)) {
    if (second < lowestSecond(lead)) return 'overlong';
    if (lead === 0xf4 && second > highestSecond(lead)) return 'out_of_range';
  }
  return 'truncated';
}

/** The number of bytes at the end that start an incomplete sequence: 0 to 3. */
export function incompleteLength(bytes: Uint8Array, start: number, end: number): number {
  for (let back = 1; back <= 3 && end - back >= start; back += 1) {
    const byte = bytes[end - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return lengthOf(byte) > back ? back : 0;
  }
  return 0;
}

function lengthOf(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

function lowestSecond(lead: number): number {
  if (lead === 0xe0) return 0xa0;
  return lead === 0xf0 ? 0x90 : 0x80;
}

function highestSecond(lead: number): number {
  if (lead === 0xed) return 0x9f;
  return lead === 0xf4 ? 0x8f : 0xbf;
}

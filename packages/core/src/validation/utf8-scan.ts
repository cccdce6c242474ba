/**
 * Says whether bytes are text: valid UTF-8 without U+0000, in one pass and without holding them.
 *
 * Invariants
 * V1  The verdict does not depend on how the bytes are divided.
 * V2  Nothing is changed or repaired here.
 */
export type Utf8Scan = {
  /** Bytes seen so far. */
  readonly bytes: number;
  /** Where the first invalid byte stands, or null. */
  readonly firstInvalid: number | null;
  /** The bytes of a code point that is not complete yet, at most three. */
  readonly pending: Uint8Array;
};

const none = new Uint8Array(0);

export const emptyScan: Utf8Scan = { bytes: 0, firstInvalid: null, pending: none };

export function scanUtf8(scan: Utf8Scan, chunk: Uint8Array): Utf8Scan {
  if (scan.firstInvalid !== null) return { ...scan, bytes: scan.bytes + chunk.length };
  const start = scan.bytes - scan.pending.length;
  const bytes = scan.pending.length === 0 ? chunk : concatenate(scan.pending, chunk);
  const { firstInvalid, rest } = scanWhole(bytes);
  return {
    bytes: scan.bytes + chunk.length,
    firstInvalid: firstInvalid === null ? null : start + firstInvalid,
    pending: firstInvalid === null && rest < bytes.length ? bytes.slice(rest) : none,
  };
}

/** The verdict at the end: a code point that was never completed is invalid. */
export function endScan(scan: Utf8Scan): number | null {
  if (scan.firstInvalid !== null) return scan.firstInvalid;
  return scan.pending.length === 0 ? null : scan.bytes - scan.pending.length;
}

function concatenate(left: Uint8Array, right: Uint8Array): Uint8Array {
  const whole = new Uint8Array(left.length + right.length);
  whole.set(left);
  whole.set(right, left.length);
  return whole;
}

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The first invalid byte, or where the code point begins that the bytes cut. */
function scanWhole(bytes: Uint8Array): {
  readonly firstInvalid: number | null;
  readonly rest: number;
} {
  const rest = bytes.length - incompleteLength(bytes);
  const whole = bytes.subarray(0, rest);
  if (!whole.includes(0)) {
    try {
      decoder.decode(whole);
      return { firstInvalid: null, rest };
    } catch {
      // The place is found below; this happens at most once for a file.
    }
  }
  return { firstInvalid: findInvalid(whole), rest };
}

/** How many bytes at the end begin a code point that is not complete. */
function incompleteLength(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}

function sequenceLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  return lead >= 0xe0 ? 3 : 2;
}

function findInvalid(bytes: Uint8Array): number {
  let index = 0;
  while (index < bytes.length) {
    const lead = bytes[index] ?? 0;
    if (lead === 0) return index;
    if (lead < 0x80) {
      index += 1;
      continue;
    }
    if (lead < 0xc2 || lead > 0xf4) return index;
    const length = sequenceLength(lead);
    const second = bytes[index + 1] ?? 0;
    if (second < lowestSecond(lead) || second > highestSecond(lead)) return index;
    for (let offset = 2; offset < length; offset += 1) {
      if (((bytes[index + offset] ?? 0) & 0xc0) !== 0x80) return index;
    }
    index += length;
  }
  return index;
}

function lowestSecond(lead: number): number {
  if (lead === 0xe0) return 0xa0;
  return lead === 0xf0 ? 0x90 : 0x80;
}

function highestSecond(lead: number): number {
  if (lead === 0xed) return 0x9f;
  return lead === 0xf4 ? 0x8f : 0xbf;
}

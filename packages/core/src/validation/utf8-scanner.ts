import { isUtf8 } from 'node:buffer';

import { incompleteLength, sequenceAt } from './utf8-sequence.ts';

/** Receives the verdicts. The bytes from `start` to `end` are valid until the call returns. */
export interface Utf8Sink {
  /** Whole valid code points, any number of them. */
  valid(bytes: Uint8Array, start: number, end: number): void;
  /** One invalid sequence. The bytes after it, up to `known`, may be inspected. */
  invalid(bytes: Uint8Array, start: number, end: number, known: number): void;
}

/**
 * Divides a stream of bytes into valid text and invalid sequences. Only this class decides whether bytes are text.
 *
 * Invariants
 * V1  The verdicts do not depend on how the bytes are divided.
 * V2  Every byte is reported exactly once, in order.
 * V3  Only a copy of the at most three bytes of an incomplete code point is kept from a chunk.
 * V4  Valid text costs one pass of the platform's check; only a chunk with invalid bytes is read byte by byte.
 */
export class Utf8Scanner {
  readonly #sink: Utf8Sink;
  /** The bytes of an incomplete sequence. */
  #carry: Uint8Array = none;

  constructor(sink: Utf8Sink) {
    this.#sink = sink;
  }

  push(chunk: Uint8Array): void {
    const start = this.#carry.length === 0 ? 0 : this.#resolveCarry(chunk);
    const end = chunk.length - incompleteLength(chunk, start, chunk.length);
    if (start < end) this.#scan(chunk, start, end);
    if (end < chunk.length) this.#carry = chunk.slice(Math.max(start, end));
  }

  /** The end of the bytes: an incomplete sequence is invalid. */
  end(): void {
    const carry = this.#carry;
    this.#carry = none;
    this.#readBytewise(carry, 0, carry.length);
  }

  /** Classifies the sequences that start in the carried bytes; returns how many bytes of the chunk they took. */
  #resolveCarry(chunk: Uint8Array): number {
    const carried = this.#carry.length;
    const joined = new Uint8Array(carried + Math.min(chunk.length, LONGEST));
    joined.set(this.#carry);
    joined.set(chunk.subarray(0, LONGEST), carried);
    this.#carry = none;
    let index = 0;
    while (index < carried) {
      const length = sequenceAt(joined, index, joined.length, false);
      if (length === 0) {
        // Undecided only if the chunk has fewer bytes than the code point lacks.
        this.#carry = joined.slice(index);
        return chunk.length;
      }
      if (length > 0) this.#sink.valid(joined, index, index + length);
      else this.#sink.invalid(joined, index, index - length, joined.length);
      index += Math.abs(length);
    }
    return index - carried;
  }

  #scan(chunk: Uint8Array, start: number, end: number): void {
    // A Buffer over the same memory, which searches many times faster than a plain array.
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset + start, end - start);
    if (bytes.indexOf(0) === -1 && isUtf8(bytes)) this.#sink.valid(chunk, start, end);
    else this.#readBytewise(chunk, start, end);
  }

  /** No sequence continues after `end`. */
  #readBytewise(bytes: Uint8Array, start: number, end: number): void {
    let validFrom = start;
    let index = start;
    while (index < end) {
      const length = sequenceAt(bytes, index, end, true);
      if (length > 0) {
        index += length;
        continue;
      }
      if (validFrom < index) this.#sink.valid(bytes, validFrom, index);
      this.#sink.invalid(bytes, index, index - length, end);
      index -= length;
      validFrom = index;
    }
    if (validFrom < index) this.#sink.valid(bytes, validFrom, index);
  }
}

const none = new Uint8Array(0);
const LONGEST = 4;

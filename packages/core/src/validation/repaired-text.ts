import type { ByteSource, TextCorrection, TextRepair } from '@orion/contracts';

import { Utf8Scanner } from './utf8-scanner.ts';
import type { Utf8Sink } from './utf8-scanner.ts';

/**
 * The repaired text, as a stream over the saved one. Only the corrections are stored, so the text is the same after a
 * crash at any moment.
 *
 * Invariants
 * P1  Bytes outside corrections and replacements pass unchanged.
 * P2  A yielded chunk is valid until the next one is requested.
 */
export function repairedText(source: ByteSource, repair: TextRepair | null): ByteSource {
  if (repair === null) return source;
  const corrected = repair.rounds.reduce(
    (text, corrections) => (corrections.length === 0 ? text : correctedText(text, corrections)),
    source,
  );
  return repair.replace ? replacedText(corrected) : corrected;
}

/** The corrections are sorted and do not overlap. */
function correctedText(source: ByteSource, corrections: readonly TextCorrection[]): ByteSource {
  return async function* corrected(): AsyncGenerator<Uint8Array, void, undefined> {
    const encoder = new TextEncoder();
    let next = 0;
    /** The bytes that have been processed. */
    let done = 0;
    let offset = 0;
    for await (const chunk of source()) {
      const end = offset + chunk.length;
      while (done < end) {
        const correction = corrections[next];
        if (correction === undefined || correction.start >= end) {
          yield chunk.subarray(done - offset);
          done = end;
        } else {
          if (done < correction.start) {
            yield chunk.subarray(done - offset, correction.start - offset);
          }
          yield encoder.encode(correction.text);
          done = correction.end;
          next += 1;
        }
      }
      offset = end;
    }
  };
}

/** Each invalid sequence becomes one U+FFFD. */
function replacedText(source: ByteSource): ByteSource {
  return async function* replaced(): AsyncGenerator<Uint8Array, void, undefined> {
    const replacer = new Replacer();
    const scanner = new Utf8Scanner(replacer);
    for await (const chunk of source()) {
      replacer.expect(chunk.length);
      scanner.push(chunk);
      if (replacer.length > 0) yield replacer.take();
    }
    replacer.expect(0);
    scanner.end();
    if (replacer.length > 0) yield replacer.take();
  };
}

class Replacer implements Utf8Sink {
  length = 0;
  #out: Uint8Array = new Uint8Array(0);

  /** Makes room for this many bytes of input and for what was carried over: a byte becomes three at most. */
  expect(bytes: number): void {
    const room = 3 * (bytes + 3);
    if (this.#out.length < room) this.#out = new Uint8Array(room);
  }

  take(): Uint8Array {
    const taken = this.#out.subarray(0, this.length);
    this.length = 0;
    return taken;
  }

  valid(bytes: Uint8Array, start: number, end: number): void {
    this.#out.set(bytes.subarray(start, end), this.length);
    this.length += end - start;
  }

  invalid(): void {
    this.#out.set(REPLACEMENT, this.length);
    this.length += REPLACEMENT.length;
  }
}

const REPLACEMENT = new TextEncoder().encode('\uFFFD');

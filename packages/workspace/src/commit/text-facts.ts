/** Detects the kind of text in a file from its chunks. The result does not depend on how the bytes are split. */
import { TextTally, isBlankCode } from '@orion/contracts';
import { isUtf8 } from 'node:buffer';
import type { ForeignEncoding, TargetSnapshot } from '@orion/contracts';
import { incompleteTail } from '../session-dir/wtf8.ts';

export type TextFacts = Pick<
  TargetSnapshot,
  'eol' | 'bom' | 'encoding' | 'unterminated' | 'beginsBlank'
>;

const LF = 0x0a;

export class TextInspector {
  readonly #tally = new TextTally();
  readonly #encoding = new EncodingInspector();
  #firstLine: 'blank so far' | 'blank' | 'text' = 'blank so far';

  add(chunk: Uint8Array): void {
    this.#tally.add(chunk);
    this.#encoding.add(chunk);
    for (let at = 0; at < chunk.length && this.#firstLine === 'blank so far'; at += 1) {
      const byte = chunk[at] ?? 0;
      if (byte === LF) this.#firstLine = 'blank';
      else if (!isBlankCode(byte)) this.#firstLine = 'text';
    }
  }

  facts(): TextFacts {
    const encoding = this.#encoding.encoding();
    const last = this.#tally.lastByte();
    return {
      eol: this.#tally.eol(),
      bom: this.#tally.bom(),
      ...(encoding === null ? {} : { encoding }),
      ...(last === -1 || last === LF ? {} : { unterminated: true }),
      ...(this.#firstLine === 'blank' ? { beginsBlank: true } : {}),
    };
  }
}

/** The share of NUL bytes per code unit that identifies UTF-16 without a byte order mark. */
const UTF_16_SHARE = 1 / 2;

class EncodingInspector {
  readonly #head: number[] = [];
  /** NULs by their place in a group of four bytes. */
  readonly #nuls: [number, number, number, number] = [0, 0, 0, 0];
  #bytes = 0;
  #isUtf8 = true;
  #rest: Uint8Array = new Uint8Array(0);

  add(chunk: Uint8Array): void {
    for (let index = 0; this.#head.length < 4 && index < chunk.length; index += 1) {
      this.#head.push(chunk[index] ?? 0);
    }
    for (let at = chunk.indexOf(0); at !== -1; at = chunk.indexOf(0, at + 1)) {
      const place = (this.#bytes + at) % 4;
      this.#nuls[place] = (this.#nuls[place] ?? 0) + 1;
    }
    this.#bytes += chunk.length;
    if (this.#isUtf8) this.#validate(chunk);
  }

  #validate(chunk: Uint8Array): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const whole = bytes.length - incompleteTail(bytes);
    this.#isUtf8 = isUtf8(bytes.subarray(0, whole));
    // The memory of the chunk will be reused.
    this.#rest = Uint8Array.from(bytes.subarray(whole));
  }

  /** Null for UTF-8. */
  encoding(): ForeignEncoding | null {
    const [first, second, third, fourth] = this.#head;
    const units = this.#bytes / 4;
    const isWide = this.#bytes > 0 && Number.isInteger(units);
    const [n0, n1, n2, n3] = this.#nuls;
    if (first === 0xff && second === 0xfe) {
      return isWide && third === 0 && fourth === 0 ? 'utf-32le' : 'utf-16le';
    }
    if (first === 0xfe && second === 0xff) return 'utf-16be';
    if (isWide && first === 0 && second === 0 && third === 0xfe && fourth === 0xff) {
      return 'utf-32be';
    }
    const nuls = n0 + n1 + n2 + n3;
    if (nuls === 0) return this.#isUtf8 && this.#rest.length === 0 ? null : '8-bit';
    // The highest byte of a UTF-32 character is always zero, and the next one usually is.
    if (isWide && n3 === units && n2 >= units / 2 && n0 < units) return 'utf-32le';
    if (isWide && n0 === units && n1 >= units / 2 && n3 < units) return 'utf-32be';
    const enough = (this.#bytes / 2) * UTF_16_SHARE;
    if (this.#bytes % 2 === 0) {
      if (n1 + n3 >= enough && n0 + n2 === 0) return 'utf-16le';
      if (n0 + n2 >= enough && n1 + n3 === 0) return 'utf-16be';
    }
    return 'binary';
  }
}

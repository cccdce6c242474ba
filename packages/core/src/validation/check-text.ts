import type { ByteSource } from '@orion/contracts';

import { Utf8Scanner } from './utf8-scanner.ts';
import type { Utf8Sink } from './utf8-scanner.ts';

export type TextCheck = {
  readonly bytes: number;
  /** Where the first invalid byte stands; null for text. */
  readonly firstInvalid: number | null;
};

/** Whether the bytes are text: the gate through which everything passes before it is written. */
export async function checkText(source: ByteSource): Promise<TextCheck> {
  const gate = new Gate();
  const scanner = new Utf8Scanner(gate);
  for await (const chunk of source()) {
    if (gate.firstInvalid === null) scanner.push(chunk);
    else gate.bytes += chunk.length;
  }
  scanner.end();
  return { bytes: gate.bytes, firstInvalid: gate.firstInvalid };
}

class Gate implements Utf8Sink {
  bytes = 0;
  firstInvalid: number | null = null;

  valid(_bytes: Uint8Array, start: number, end: number): void {
    this.bytes += end - start;
  }

  invalid(_bytes: Uint8Array, start: number, end: number): void {
    this.firstInvalid ??= this.bytes;
    this.bytes += end - start;
  }
}

import { OrionError } from '@orion/contracts';
import type { ByteSource, ErrorCode } from '@orion/contracts';

import { Utf8Scanner } from './utf8-scanner.ts';
import type { Utf8Sink } from './utf8-scanner.ts';

/**
 * The same bytes, of which there must be as many as were saved. A file that something outside has cut is shorter
 * without any error; what is left of it may well be valid text.
 */
export function completeText(source: ByteSource, bytes: number, target: string): ByteSource {
  return async function* complete(): AsyncGenerator<Uint8Array, void, undefined> {
    let read = 0;
    for await (const chunk of source()) {
      read += chunk.length;
      yield chunk;
    }
    if (read === bytes) return;
    throw new OrionError({
      code: 'VALIDATION_FAILED',
      message: `Of ${bytes} saved bytes for ${target} only ${read} could be read back, so nothing was written.`,
      details: { saved_bytes: bytes, read_bytes: read },
    });
  };
}

/**
 * The same bytes, validated while they pass by: whoever reads them to their end has read nothing but text. Reading
 * rejects with INVALID_CONTENT (the first invalid byte is named), and with VALIDATION_FAILED when the bytes
 * themselves cannot be read. `bytes` counts those of the last reading.
 */
export function validatedText(
  source: ByteSource,
  target: string,
): { readonly source: ByteSource; readonly bytes: () => number } {
  let gate = new Gate();
  async function* validated(): AsyncGenerator<Uint8Array, void, undefined> {
    gate = new Gate();
    const scanner = new Utf8Scanner(gate);
    try {
      for await (const chunk of source()) {
        scanner.push(chunk);
        requireValid(gate, target);
        yield chunk;
      }
    } catch (error) {
      throw unreadableText(target, error);
    }
    scanner.end();
    requireValid(gate, target);
  }
  return { source: validated, bytes: () => gate.bytes };
}

/** A verdict is told as it is, and so is what may pass by itself, as a lack of free files does: the commit is tried again. */
export function unreadableText(target: string, cause: unknown): OrionError {
  if (OrionError.isInstance(cause) && (cause.retryable || VERDICTS.has(cause.code))) return cause;
  return new OrionError({
    code: 'VALIDATION_FAILED',
    message: `The saved text for ${target} could not be read back, so nothing was written.`,
    cause,
  });
}

const VERDICTS: ReadonlySet<ErrorCode> = new Set(['INVALID_CONTENT', 'VALIDATION_FAILED']);

function requireValid({ firstInvalid }: Gate, target: string): void {
  if (firstInvalid === null) return;
  throw new OrionError({
    code: 'INVALID_CONTENT',
    message: `The text for ${target} is not valid UTF-8 at byte ${firstInvalid}; nothing was written.`,
    details: { byte_offset: firstInvalid },
  });
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

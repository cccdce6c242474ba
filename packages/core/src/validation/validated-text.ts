import { OrionError } from '@orion/contracts';
import type { ByteSource, ErrorCode } from '@orion/contracts';

import { Utf8Scanner } from './utf8-scanner.ts';
import type { Utf8Sink } from './utf8-scanner.ts';

/**
 * The same bytes, of which there must be as many as were saved. A file that something else has truncated can be read
 * without an error, and the rest of it may be valid text.
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
 * The same bytes, validated as they are read. Reading rejects with INVALID_CONTENT, which names the first invalid byte,
 * and with VALIDATION_FAILED if the bytes cannot be read. `bytes` is the number of bytes of the last reading.
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

/** Verdicts are passed on, and so are passing failures such as too many open files, after which the commit is retried. */
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

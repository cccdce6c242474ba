import type { IncomingMessage } from 'node:http';

/** The next part of a body. Nothing follows `end` or `error`. */
export type Arrival =
  /** Everything since the last read. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: unknown };

/** The body of an answer. Bytes that arrived before a failure come before it. Never rejects. */
export type Body = {
  read(): Promise<Arrival>;
};

/**
 * How much is buffered for a reader that is slower than the network: enough for one more read while the last one is
 * processed, and little, because unprocessed bytes are lost with the process.
 */
const MOST_HELD_BYTES = 64 * 1024;

/**
 * A body from Node's HTTP client. Pieces are joined first: a server writes each event separately, and hundreds arrive
 * at once.
 */
export function bodyOfMessage(message: IncomingMessage): Body {
  let chunks: Uint8Array[] = [];
  let held = 0;
  let end: Arrival | undefined;
  let wake: (() => void) | undefined;

  const finish = (arrival: Arrival): void => {
    end ??= arrival;
    wake?.();
  };
  message.on('data', (chunk: Uint8Array) => {
    chunks.push(chunk);
    held += chunk.length;
    if (held >= MOST_HELD_BYTES) message.pause();
    wake?.();
  });
  message.on('end', () => finish({ kind: 'end' }));
  message.on('error', (error) => finish({ kind: 'error', error }));
  message.on('close', () => finish({ kind: 'error', error: new Error('the connection closed') }));

  return {
    async read() {
      if (chunks.length === 0 && end === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
      if (chunks.length > 0) {
        const taken = chunks;
        chunks = [];
        if (held >= MOST_HELD_BYTES) message.resume();
        held = 0;
        return { kind: 'bytes', bytes: Buffer.concat(taken) };
      }
      return end ?? { kind: 'end' };
    },
  };
}

/**
 * A body from `fetch`. One read is always in progress, so that bytes that arrived before a reset are not lost with it.
 */
export function bodyOfStream(stream: ReadableStream<Uint8Array> | null): Body {
  if (stream === null) return { read: () => Promise.resolve({ kind: 'end' }) };
  const reader = stream.getReader();
  const next = async (): Promise<Arrival> => {
    try {
      const { done, value } = await reader.read();
      return done ? { kind: 'end' } : { kind: 'bytes', bytes: value };
    } catch (error) {
      return { kind: 'error', error };
    }
  };
  let ahead = next();
  return {
    async read() {
      const arrival = await ahead;
      if (arrival.kind === 'bytes') ahead = next();
      return arrival;
    },
  };
}

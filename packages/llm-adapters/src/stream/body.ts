import type { IncomingMessage } from 'node:http';

/** What a body gives next. After `end` or `error` it gives nothing more. */
export type Arrival =
  /** All that has come since the last read. */
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'end' }
  | { readonly kind: 'error'; readonly error: unknown };

/** The body of an answer. What arrived before a failure is given before the failure. Never rejects. */
export type Body = {
  read(): Promise<Arrival>;
};

/**
 * So much is held for a reader that is slower than the network: enough for one more read while the last one is
 * worked on, and little, since what was read and not yet worked on is lost with the process.
 */
const MOST_HELD_BYTES = 64 * 1024;

/**
 * A body as Node's own HTTP client gives it. Pieces are put together first: a server writes each event as a piece of
 * its own, and hundreds of them come at once.
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

/** A body as `fetch` gives it. One read is always under way, so that what arrived before a reset is not lost with it. */
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

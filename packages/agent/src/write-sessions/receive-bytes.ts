import { OrionError } from '@orion/contracts';
import type { Clock, SessionHandle, SessionRecord } from '@orion/contracts';

/** A chunk is taken in pieces of this size, so that a large one cannot be in memory twice. */
const PIECE_BYTES = 64 * 1024;
/** From here on a save is under way while more arrives, and from there on nothing is read until it has ended. */
const SAVE_BYTES = 256 * 1024;
const MAX_UNSAVED_BYTES = 1024 * 1024;

export type ReceiveOptions = {
  readonly handle: Pick<SessionHandle, 'appendBytes' | 'bytes' | 'save' | 'lost'>;
  /** Stays as it is while bytes arrive. */
  readonly record: SessionRecord;
  readonly source: AsyncIterable<Uint8Array>;
  /** What the whole text may have. */
  readonly maxBytes: number;
  /** Bytes are durable after this time, however slowly more arrive. */
  readonly saveMs: number;
  readonly clock: Clock;
  /** Ends the upload; what has arrived stays. */
  readonly signal: AbortSignal;
};

/**
 * Appends what arrives to a session.
 *
 * B1  When it resolves, all of it is durable. When it rejects, what has arrived is saved as far as the disk allows.
 * B2  At most MAX_UNSAVED_BYTES and one piece are in memory, however fast the source is and however slow the disk.
 * B3  A source that gives nothing more, and answers no `return`, does not hold the upload once it is ended.
 */
export async function receiveBytes(options: ReceiveOptions): Promise<void> {
  const { handle, record, source, maxBytes, saveMs, clock } = options;
  const signal = AbortSignal.any([options.signal, handle.lost]);
  let durable = handle.bytes();
  let failure: { readonly error: unknown } | null = null;
  let saving: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  const stopTimer = (): void => {
    cancelTimer?.();
    cancelTimer = null;
  };
  const save = (): Promise<void> => {
    stopTimer();
    saving ??= handle
      .save(record)
      .then(
        ({ durableBytes }) => void (durable = durableBytes),
        (error: unknown) => void (failure ??= { error }),
      )
      .finally(() => (saving = null));
    return saving;
  };
  const unsaved = (): number => handle.bytes() - durable;
  const requireUsable = (): void => {
    signal.throwIfAborted();
    if (failure !== null) throw failure.error;
  };
  try {
    for await (const piece of piecesOf(untilAborted(source, signal))) {
      if (handle.bytes() + piece.length > maxBytes) throw tooLarge(maxBytes);
      handle.appendBytes(piece);
      if (unsaved() >= SAVE_BYTES) void save();
      else cancelTimer ??= clock.schedule(saveMs, () => void save());
      while (unsaved() > MAX_UNSAVED_BYTES && failure === null && !handle.lost.aborted)
        await save();
      requireUsable();
    }
  } finally {
    // A save that is under way may not cover the last bytes.
    if (saving !== null) await save();
    if (unsaved() > 0 && failure === null) await save();
    // From here on the session is somebody else's to save.
    stopTimer();
  }
  requireUsable();
}

function tooLarge(maxBytes: number): OrionError {
  return new OrionError({
    code: 'CONTENT_TOO_LARGE',
    message: `The text is larger than the limit of ${maxBytes} bytes (WRITE_SESSION_MAX_BYTES).`,
    details: { max_bytes: maxBytes },
  });
}

async function* piecesOf(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const chunk of source) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      yield chunk.subarray(start, start + PIECE_BYTES);
    }
  }
}

/** Rejects with the signal's reason as soon as it is aborted, whatever the source does. */
async function* untilAborted<Item>(
  source: AsyncIterable<Item>,
  signal: AbortSignal,
): AsyncGenerator<Item, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let interrupt = (): void => undefined;
  const onAbort = (): void => interrupt();
  signal.addEventListener('abort', onAbort);
  let ended = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<Item>>((resolve, reject) => {
        interrupt = () => reject(signal.reason as Error);
        iterator.next().then(resolve, reject);
      });
      if (next.done === true) {
        ended = true;
        return;
      }
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // A stalled source would never answer.
    if (!ended) void iterator.return?.().catch(() => undefined);
  }
}

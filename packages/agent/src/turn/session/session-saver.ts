import type { Clock, SaveResult, SessionHandle, SessionRecord } from '@orion/contracts';

export type SaveObserver = {
  readonly saved: (result: SaveResult) => void;
  readonly failed: (error: unknown) => void;
};

/** What may wait for the disk while more text is read: it is held in memory, and a power cut would take it. */
export const MAX_UNSAVED_BYTES: number = 512 * 1024;
/** A save that takes longer belongs to a disk that hangs; the model's stream must not hang with it. */
export const CATCH_UP_MS = 1000;

export type SessionSaver = {
  /** How many bytes of the content are on the disk. */
  durableBytes(): number;
  /** The content was begun anew, in another file. */
  startOver(): void;
  /** Starts a save; the observer learns how it ends. */
  start(record: SessionRecord): void;
  /** Whether more text should wait for the disk. */
  isBehind(): boolean;
  /** Waits until the disk has followed, or does not. */
  catchUp(record: SessionRecord): Promise<void>;
  /** When every save that was started has ended, the ones started meanwhile included. */
  settled(): Promise<void>;
};

/**
 * The saves of one session.
 *
 * V1  `settled` waits for every one of them.
 * V2  A stream that is faster than the disk is read no faster than the disk can follow.
 * V3  A save that hangs, or fails, holds the stream up once, for CATCH_UP_MS at most.
 */
export function sessionSaver(
  handle: Pick<SessionHandle, 'save' | 'bytes'>,
  savedBefore: number,
  clock: Clock,
  observer: SaveObserver,
): SessionSaver {
  const running = new Set<Promise<void>>();
  let durableBytes = savedBefore;
  let hangs = false;
  let inMemory = false;

  function start(record: SessionRecord): void {
    const save = handle.save(record).then(
      (result) => {
        ({ durableBytes } = result);
        hangs = false;
        inMemory = result.persistence === 'memory';
        observer.saved(result);
      },
      (error: unknown) => {
        hangs = false;
        inMemory = true;
        observer.failed(error);
      },
    );
    running.add(save);
    void save.finally(() => running.delete(save));
  }

  function isBehind(): boolean {
    return !hangs && !inMemory && handle.bytes() - durableBytes > MAX_UNSAVED_BYTES;
  }

  return {
    durableBytes: () => durableBytes,
    startOver() {
      durableBytes = 0;
    },
    start,
    isBehind,
    async catchUp(record) {
      const patience = Promise.withResolvers<void>();
      const cancel = clock.schedule(CATCH_UP_MS, () => {
        hangs = true;
        patience.resolve();
      });
      while (isBehind()) {
        if (running.size === 0) start(record);
        await Promise.race([patience.promise, ...running]);
      }
      cancel();
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

import type { Clock, SaveResult, SessionHandle, SessionRecord } from '@orion/contracts';

export type SaveObserver = {
  readonly saved: (result: SaveResult) => void;
  readonly failed: (error: unknown) => void;
};

/** What may wait for the disk while more text is read: it is held in memory, and a power cut would take it. */
export const MAX_UNSAVED_BYTES: number = 512 * 1024;
/** A save that takes longer belongs to a disk that hangs; the model's stream must not hang with it. */
export const CATCH_UP_MS = 1000;

/**
 * The saves of one session.
 *
 * V1  None is forgotten: `settled` waits for all of them.
 * V2  A stream that is faster than the disk is read no faster than the disk can follow.
 * V3  A save that hangs, or fails, holds the stream up once, for CATCH_UP_MS at most.
 */
export class SessionSaver {
  readonly #handle: Pick<SessionHandle, 'save' | 'bytes'>;
  readonly #clock: Clock;
  readonly #observer: SaveObserver;
  readonly #running = new Set<Promise<void>>();
  #durableBytes: number;
  #hangs = false;
  #inMemory = false;

  constructor(
    handle: Pick<SessionHandle, 'save' | 'bytes'>,
    durableBytes: number,
    clock: Clock,
    observer: SaveObserver,
  ) {
    this.#handle = handle;
    this.#durableBytes = durableBytes;
    this.#clock = clock;
    this.#observer = observer;
  }

  /** So many bytes of the content are on the disk. */
  get durableBytes(): number {
    return this.#durableBytes;
  }

  /** The content was begun anew, in another file. */
  startOver(): void {
    this.#durableBytes = 0;
  }

  /** Starts a save; how it ends is told to the observer. */
  start(record: SessionRecord): void {
    const save = this.#handle.save(record).then(
      (result) => {
        this.#durableBytes = result.durableBytes;
        this.#hangs = false;
        this.#inMemory = result.persistence === 'memory';
        this.#observer.saved(result);
      },
      (error: unknown) => {
        this.#hangs = false;
        this.#inMemory = true;
        this.#observer.failed(error);
      },
    );
    this.#running.add(save);
    void save.finally(() => this.#running.delete(save));
  }

  /** Whether more text should wait for the disk. */
  isBehind(): boolean {
    if (this.#hangs || this.#inMemory) return false;
    return this.#handle.bytes() - this.#durableBytes > MAX_UNSAVED_BYTES;
  }

  /** Waits until the disk has followed, or does not. */
  async catchUp(record: SessionRecord): Promise<void> {
    let cancel = (): void => undefined;
    const patience = new Promise<void>((resolve) => {
      cancel = this.#clock.schedule(CATCH_UP_MS, () => {
        this.#hangs = true;
        resolve();
      });
    });
    while (this.isBehind()) {
      if (this.#running.size === 0) this.start(record);
      await Promise.race([patience, ...this.#running]);
    }
    cancel();
  }

  /** When every save that was started has ended, the ones started meanwhile included. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

import type { SaveResult, SessionHandle, SessionRecord } from '@orion/contracts';

export type SaveObserver = {
  readonly saved: (result: SaveResult) => void;
  readonly failed: (error: unknown) => void;
};

/** The saves of one session: nobody waits for one, and none is forgotten. */
export class SessionSaver {
  readonly #handle: Pick<SessionHandle, 'save'>;
  readonly #observer: SaveObserver;
  readonly #running = new Set<Promise<void>>();

  constructor(handle: Pick<SessionHandle, 'save'>, observer: SaveObserver) {
    this.#handle = handle;
    this.#observer = observer;
  }

  /** Starts a save; how it ends is told to the observer. */
  start(record: SessionRecord): void {
    const save = this.#handle.save(record).then(this.#observer.saved, this.#observer.failed);
    this.#running.add(save);
    void save.finally(() => this.#running.delete(save));
  }

  /** When every save that was started has ended, the ones started meanwhile included. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

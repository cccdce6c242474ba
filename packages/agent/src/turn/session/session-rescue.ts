import type { SessionHandle, SessionRecord } from '@orion/contracts';
import { toErrorInfo } from '@orion/contracts';

import type { SessionPlace } from '../paused-session.ts';
import type { SessionReport } from './session-report.ts';
import type { SessionSaver } from './session-saver.ts';

/** Keeps the text of a session that is about to leave this process, whatever happened to it. */
export class SessionRescue {
  readonly #handle: SessionHandle;
  readonly #saver: SessionSaver;
  readonly #report: SessionReport;
  #path: string | null = null;

  constructor(handle: SessionHandle, saver: SessionSaver, report: SessionReport) {
    this.#handle = handle;
    this.#saver = saver;
    this.#report = report;
  }

  place(): SessionPlace {
    return { directory: this.#handle.directory, rescuedText: this.#path };
  }

  /** Saves what there is and gives the session back, whatever state it was in. */
  async session(record: SessionRecord): Promise<void> {
    try {
      await this.#saver.settled();
      await this.#handle.save(record);
    } catch {
      // The text could not be saved now; what was saved before stays.
    }
    if (this.#handle.bytes() > 0) await this.#toAnotherDisk();
    try {
      await this.#handle.release();
    } catch {
      // Its lease runs out by itself.
    }
  }

  /**
   * What only memory holds would end with the process. A single write that has failed may be all that is wrong with its
   * own place, so it is saved there once more; the saver tells why that does not go.
   */
  async text(record: SessionRecord): Promise<void> {
    if (this.#handle.persistence() === 'disk' || this.#handle.lost.aborted) return;
    this.#saver.start(record);
    await this.#saver.settled();
    await this.#toAnotherDisk();
  }

  /** The person is told where. */
  async #toAnotherDisk(): Promise<void> {
    const handle = this.#handle;
    if (handle.persistence() === 'disk' || handle.lost.aborted || this.#path !== null) return;
    try {
      this.#path = await handle.rescue();
      this.#report.notice(
        `The session could not be saved in its own place; all of its text is in ${this.#path}.`,
      );
      this.#report.trace('rescued', { path: this.#path });
    } catch (error) {
      const { message } = toErrorInfo(error);
      this.#report.notice(
        `The text could not be saved anywhere and ends with this process: ${message}`,
      );
    }
  }
}

import type { SessionHandle, SessionRecord } from '@orion/contracts';
import { toErrorInfo } from '@orion/contracts';

import type { SessionPlace } from '../paused-session.ts';
import type { SessionReport } from './session-report.ts';
import type { SessionSaver } from './session-saver.ts';

/** Keeps the text of a session that is about to leave this process, whatever happened to it. */
export type SessionRescue = {
  place(): SessionPlace;
  /** Saves what there is and gives the session back, whatever state it was in. */
  session(record: SessionRecord): Promise<void>;
  /**
   * What only memory holds would end with the process. A single write that has failed may be all that is wrong with its
   * own place, so it is saved there once more; the saver reports why that fails.
   */
  text(record: SessionRecord): Promise<void>;
};

export function sessionRescue(
  handle: SessionHandle,
  saver: SessionSaver,
  report: SessionReport,
): SessionRescue {
  let path: string | null = null;

  /** Reports the place to the person. */
  async function toAnotherDisk(): Promise<void> {
    if (handle.persistence() === 'disk' || handle.lost.aborted || path !== null) return;
    try {
      path = await handle.rescue();
      report.notice(
        `The session could not be saved in its own place; all of its text is in ${path}.`,
      );
      report.trace('rescued', { path });
    } catch (error) {
      const { message } = toErrorInfo(error);
      report.notice(`The text could not be saved anywhere and ends with this process: ${message}`);
    }
  }

  return {
    place: () => ({ directory: handle.directory, rescuedText: path }),
    async session(record) {
      try {
        await saver.settled();
        await handle.save(record);
      } catch {
        // The text could not be saved now; what was saved before stays.
      }
      if (handle.bytes() > 0) await toAnotherDisk();
      try {
        await handle.release();
      } catch {
        // Its lease runs out by itself.
      }
    },
    async text(record) {
      if (handle.persistence() === 'disk' || handle.lost.aborted) return;
      saver.start(record);
      await saver.settled();
      await toAnotherDisk();
    },
  };
}

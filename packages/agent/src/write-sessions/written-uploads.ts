import { OrionError } from '@orion/contracts';
import type { Workspace, WrittenUpload } from '@orion/contracts';

import { writtenChange } from './session-view.ts';

const MOST_RECEIPTS = 1000;

/** What uploads have become: receipts of this process, and for those of others what the history of changes knows. */
export class WrittenUploads {
  readonly #workspace: Pick<Workspace, 'findChangedFile'>;
  /** The latest last. */
  readonly #receipts = new Map<string, WrittenUpload>();

  constructor(workspace: Pick<Workspace, 'findChangedFile'>) {
    this.#workspace = workspace;
  }

  add(sessionId: string, written: WrittenUpload): void {
    this.#receipts.set(sessionId, written);
    for (const oldest of this.#receipts.keys()) {
      if (this.#receipts.size <= MOST_RECEIPTS) break;
      this.#receipts.delete(oldest);
    }
  }

  /** What `use` makes of a session, or the file that another process has written of it since it was found. */
  async orWritten<Result>(
    sessionId: string,
    use: () => Promise<Result>,
  ): Promise<Result | WrittenUpload> {
    try {
      return await use();
    } catch (error) {
      if (!OrionError.isInstance(error) || error.code !== 'SESSION_NOT_FOUND') throw error;
      const written = await this.#find(sessionId);
      if (written === null) throw error;
      return written;
    }
  }

  /** Null for a session that was not written. */
  async #find(sessionId: string): Promise<WrittenUpload | null> {
    const known = this.#receipts.get(sessionId);
    if (known !== undefined) return known;
    return writtenChange(sessionId, await this.#workspace.findChangedFile(sessionId));
  }
}

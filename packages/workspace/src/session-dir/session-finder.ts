/** The sessions of a workspace, looked at without changing them; one that cannot be read hides no other. */
import { join, resolve } from 'node:path';
import { errnoOf } from '../disk/disk-error.ts';
import { isSessionId } from '../state-directory.ts';
import { inspectSession } from './inspect-session.ts';
import type { Inspection } from './inspect-session.ts';
import { sessionNotFound } from './session-errors.ts';
import type { SessionKey } from './session-key.ts';
import type { SessionStoreOptions } from './session-store-options.ts';

/** Directories looked at together. */
const PARALLEL = 16;

export class SessionFinder {
  readonly #options: SessionStoreOptions;
  readonly #onFailure: (error: unknown) => void;
  #key: Promise<SessionKey | null> | null = null;

  constructor(options: SessionStoreOptions, onFailure: (error: unknown) => void) {
    this.#options = options;
    this.#onFailure = onFailure;
  }

  key(): Promise<SessionKey | null> {
    this.#key ??= this.#options.loadKey();
    return this.#key;
  }

  async inspect(directory: string, id: string): Promise<Inspection | null> {
    const { observer, clock } = this.#options;
    const inspector = { observer, key: await this.key(), now: () => clock.now() };
    return inspectSession(inspector, directory, id);
  }

  /** Rejects with SESSION_NOT_FOUND. */
  async find(sessionId: string): Promise<Inspection> {
    const { state } = this.#options;
    if (!isSessionId(sessionId)) throw sessionNotFound(sessionId, null);
    await this.key();
    for (const parent of [state.sessions, state.attic]) {
      if (!(await state.holds(parent).catch(() => false))) continue;
      const found = await this.inspect(join(parent, sessionId), sessionId);
      // Only what was set aside of a session that is done lies there without its content.
      const isRemainder = parent === state.attic && found?.content === null;
      if (found === null || isRemainder) continue;
      if (state.isAboutHere(found.root)) return found;
      throw sessionNotFound(sessionId, resolve(state.path, found.root ?? ''));
    }
    throw sessionNotFound(sessionId, null);
  }

  /** All but those in the attic. */
  async all(): Promise<readonly Inspection[]> {
    const { state } = this.#options;
    const ids = (await this.namesIn(state.sessions)).filter(isSessionId);
    await this.key();
    const inspections = await inParallel(ids, async (id) =>
      this.inspect(join(state.sessions, id), id).catch((error: unknown) => {
        this.#onFailure(error);
        return null;
      }),
    );
    return inspections
      .filter((inspection) => inspection !== null)
      .filter(({ root }) => state.isAboutHere(root));
  }

  async namesIn(directory: string): Promise<readonly string[]> {
    try {
      return await this.#options.state.names(directory);
    } catch (error) {
      if (errnoOf(error) !== null) return [];
      throw error;
    }
  }
}

export async function inParallel<T, R>(
  items: readonly T[],
  step: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += PARALLEL) {
    results.push(...(await Promise.all(items.slice(from, from + PARALLEL).map(step))));
  }
  return results;
}

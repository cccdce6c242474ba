/** The sessions of a workspace, looked at without changing them; one that cannot be read hides no other. */
import { join, resolve } from 'node:path';
import { errnoOf } from '../disk/disk-error.ts';
import { isSessionId } from '../state-directory.ts';
import { inspectSession } from './inspect-session.ts';
import type { FirstLook, Fitness, Inspection } from './inspect-session.ts';
import { sessionNotFound } from './session-errors.ts';
import type { SessionStoreOptions } from './session-store-options.ts';

/** Directories looked at together. */
const PARALLEL = 16;

export class SessionFinder {
  readonly #options: SessionStoreOptions;
  readonly #onFailure: (error: unknown) => void;
  /** What this process knows of directories by a look at them; an own one may still become anything. */
  readonly #unfit: Map<string, Exclude<Fitness, 'own'>> = new Map();

  constructor(options: SessionStoreOptions, onFailure: (error: unknown) => void) {
    this.#options = options;
    this.#onFailure = onFailure;
  }

  async inspect(
    directory: string,
    id: string,
    isWanted?: (look: FirstLook) => boolean,
  ): Promise<Inspection | null> {
    const { observer, clock, loadKey } = this.#options;
    const inspector = { observer, key: await loadKey(), now: () => clock.now() };
    return inspectSession(inspector, directory, id, isWanted);
  }

  /** Rejects with SESSION_NOT_FOUND. */
  async find(sessionId: string): Promise<Inspection> {
    const { state } = this.#options;
    if (!isSessionId(sessionId)) throw sessionNotFound(sessionId, null);
    await this.#options.loadKey();
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

  /**
   * All of these kinds but those in the attic. Of one that is known as another kind nothing is read again, and no more
   * are held than are looked at together: a repository may bring any number.
   */
  async *each<R>(
    kinds: readonly Fitness[],
    step: (inspection: Inspection) => Promise<R> | R,
  ): AsyncGenerator<R, void, undefined> {
    const { state } = this.#options;
    const ids = (await this.namesIn(state.sessions)).filter(isSessionId).filter((id) => {
      const known = this.#unfit.get(id);
      return known === undefined || kinds.includes(known);
    });
    await this.#options.loadKey();
    for (let from = 0; from < ids.length; from += PARALLEL) {
      const found = ids.slice(from, from + PARALLEL).map(async (id) => {
        const inspection = await this.#inspectIf(kinds, id).catch((error: unknown) => {
          this.#onFailure(error);
          return null;
        });
        return inspection === null ? null : { value: await step(inspection) };
      });
      for (const one of await Promise.all(found)) if (one !== null) yield one.value;
    }
  }

  async #inspectIf(kinds: readonly Fitness[], id: string): Promise<Inspection | null> {
    const { state } = this.#options;
    return this.inspect(join(state.sessions, id), id, ({ fitness, root, refused }) => {
      if (fitness === 'own' || refused) this.#unfit.delete(id);
      else this.#unfit.set(id, fitness);
      return kinds.includes(fitness) && state.isAboutHere(root);
    });
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

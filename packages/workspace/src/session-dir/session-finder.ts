/**
 * Finds and inspects the sessions of a workspace without changing them. An unreadable session does not hide the others.
 */
import { join, resolve } from 'node:path';
import { errnoOf } from '../disk/disk-error.ts';
import { isSessionId } from '../state-directory.ts';
import { inspectSession } from './inspect-session.ts';
import type { FirstLook, Fitness, Inspection } from './inspect-session.ts';
import { sessionNotFound } from './session-errors.ts';
import type { SessionStoreOptions } from './session-store-options.ts';

/** Number of directories inspected in parallel. */
const PARALLEL = 16;

export class SessionFinder {
  readonly #options: SessionStoreOptions;
  readonly #onFailure: (error: unknown) => void;
  /**
   * Directories that this process has already found to be unfit. One of the user's own can still change, so it is not
   * listed.
   */
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
      // Only the set-aside text of a finished session is stored there without content.
      const isRemainder = parent === state.attic && found?.content === null;
      if (found === null || isRemainder) continue;
      if (state.isAboutHere(found.root)) return found;
      throw sessionNotFound(sessionId, resolve(state.path, found.root ?? ''));
    }
    throw sessionNotFound(sessionId, null);
  }

  /**
   * Yields the sessions of these kinds, except those in the attic. A directory known to be of another kind is not read
   * again, nor one whose id is not wanted, and only as many inspections are held as run in parallel: a repository may
   * contain any number.
   */
  async *each<R>(
    kinds: readonly Fitness[],
    step: (inspection: Inspection) => Promise<R> | R,
    isWanted: (sessionId: string) => boolean = () => true,
  ): AsyncGenerator<R, void, undefined> {
    const { state } = this.#options;
    const ids = (await this.namesIn(state.sessions)).filter(isSessionId).filter((id) => {
      const known = this.#unfit.get(id);
      return isWanted(id) && (known === undefined || kinds.includes(known));
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

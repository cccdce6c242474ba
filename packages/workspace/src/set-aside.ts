import { randomUUID } from 'node:crypto';
import { lstat, readdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

import type { Clock, ProtectedChange, ProtectedPaths, ProtectedReport } from '@orion/contracts';

import { syncDirectory } from './disk/directories.ts';
import { isErrno } from './disk/disk-error.ts';
import { isInside } from './path-policy/resolve-path.ts';
import { protectionOf } from './path-policy/protected-paths.ts';
import { differences } from './path-policy/protected-changes.ts';
import type { FoundChange } from './path-policy/protected-changes.ts';
import { expired } from './retention/retention.ts';
import type { RetentionLimits } from './retention/retention.ts';
import { isSessionId, StateDirectory } from './state-directory.ts';

type SetAsideOptions = {
  readonly state: StateDirectory;
  readonly clock: Clock;
  readonly root: string;
  readonly limits: RetentionLimits;
  readonly list: () => Promise<ProtectedPaths>;
};

/**
 * Protected files and folders that a command made although it was not allowed to. They are moved into the state directory,
 * each into a folder of its own, and kept there as long as the attic keeps a session. Nothing is deleted before. If the
 * state directory is on another file system, they are moved into `.orion` of the workspace: a copy could be incomplete.
 */
export class SetAside {
  readonly #options: SetAsideOptions;
  readonly #places: readonly StateDirectory[];

  constructor(options: SetAsideOptions) {
    this.#options = options;
    const { state, root } = options;
    const inside = new StateDirectory(join(root, '.orion'));
    this.#places = state.path === inside.path ? [state] : [state, inside];
  }

  /** See `protectedChanges` of the workspace. */
  async changesSince(
    before: ProtectedPaths,
    { undo }: { readonly undo: boolean },
  ): Promise<ProtectedReport> {
    const after = await this.#options.list();
    // Another process of Orion may begin in a folder at any time; what is foreign in its state counts for nothing.
    const found = differences(before, after).filter(({ path }) => !isState(path));
    const changes: ProtectedChange[] = [];
    for (const change of found) {
      if (!undo) changes.push({ ...asFound(change), movedTo: null, restored: false });
      else if (isFromInside(change)) changes.push(await this.#undo(change));
    }
    // A failure to make room is no failure to keep the workspace as it was.
    if (changes.some(({ movedTo }) => movedTo !== null)) await this.#prune().catch(() => undefined);
    return { changes, truncated: before.truncated || after.truncated };
  }

  async #undo(found: FoundChange): Promise<ProtectedChange> {
    const { root } = this.#options;
    const path = join(root, found.path);
    const movedTo = found.change === 'removed' ? null : await this.#move(path);
    const isFree = found.change === 'removed' || movedTo !== null;
    const link = found.before?.link ?? null;
    const restored = link !== null && isFree && (await succeeds(symlink(link, path)));
    return { ...asFound(found), movedTo, restored };
  }

  /** Null where it could not be moved. */
  async #move(path: string): Promise<string | null> {
    const { root } = this.#options;
    for (const state of this.#places) {
      const folder = join(state.setAside, randomUUID());
      const place = join(folder, basename(path));
      try {
        await this.#moveTo(path, place, state);
        return isInside(root, place) ? relative(root, place) : place;
      } catch (error) {
        await rm(folder, { recursive: true, force: true }).catch(() => undefined);
        if (!isErrno(error, 'EXDEV')) return null;
      }
    }
    return null;
  }

  async #moveTo(path: string, place: string, state: StateDirectory): Promise<void> {
    const folder = dirname(place);
    await state.ensure(folder);
    await rename(path, place);
    const now = new Date(this.#options.clock.now());
    await utimes(folder, now, now);
    await syncDirectory(folder);
  }

  async #prune(): Promise<void> {
    const { limits, clock } = this.#options;
    for (const state of this.#places) {
      const names = (await state.names(state.setAside)).filter(isSessionId);
      const entries = await Promise.all(
        names.map(async (name) => {
          const folder = join(state.setAside, name);
          return { name, since: (await lstat(folder)).mtimeMs, bytes: await sizeOf(folder) };
        }),
      );
      for (const name of expired(entries, limits, clock.now()))
        await rm(join(state.setAside, name), { recursive: true, force: true });
    }
  }
}

/** Regular files and folders were read-only for the command: whoever changed them was somebody else. */
function isFromInside({ change, before }: FoundChange): boolean {
  return change !== 'changed' || before?.link !== null;
}

function isState(path: string): boolean {
  return protectionOf(path.split('/')).kind === 'never';
}

function asFound({ path, change }: FoundChange): Pick<ProtectedChange, 'path' | 'change'> {
  return { path, change };
}

async function succeeds(done: Promise<void>): Promise<boolean> {
  return done.then(
    () => true,
    () => false,
  );
}

async function sizeOf(folder: string): Promise<number> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    found
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await lstat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

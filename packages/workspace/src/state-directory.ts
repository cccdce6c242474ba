import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ensurePrivateDirectory, makeDirectory } from './disk/directories.ts';
import { errnoOf, isErrno } from './disk/disk-error.ts';
import { createFile } from './disk/files.ts';
import { closeToOthers } from './disk/private-modes.ts';

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

/** Anything else is refused before the disk is touched, since an id becomes a directory name. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

/**
 * Where everything lies that Orion keeps of a workspace.
 *
 * D1. It may have come with a repository of somebody else, so nothing below it is taken for a directory that is a
 *     link: whoever reads or removes asks `names` or `holds` first, whoever writes `ensure`.
 * D2. Several workspaces may share it, and the paths in its records are relative: each record names the `root` that
 *     it is about, and counts only there. It does so relative to the state, so that both can be moved together.
 */
export class StateDirectory {
  readonly path: string;
  /** What a record says of whose it is. */
  readonly root: string;
  readonly sessions: string;
  readonly locks: string;
  readonly attic: string;
  readonly backups: string;
  /** One note for each temporary file beside a target, so that the next start can remove it. */
  readonly temporaries: string;
  /** A journal for each plan over several files that is being written. */
  readonly plans: string;
  /** Texts that belong to no file. */
  readonly texts: string;

  constructor(path: string, root: string = dirname(path)) {
    this.path = path;
    this.root = relative(path, root).split(sep).join('/');
    this.sessions = join(path, 'logs', 'write_sessions');
    this.locks = join(path, 'locks');
    this.attic = join(path, 'attic');
    this.backups = join(path, 'backups');
    this.temporaries = join(path, 'temporaries');
    this.plans = join(path, 'plans');
    this.texts = join(path, 'texts');
  }

  /** Whether a record with this `root` is about this workspace; one without may be. */
  isAboutHere(root: unknown): boolean {
    return root === undefined || root === this.root;
  }

  /**
   * Makes the directory and one of those inside it. Only called when something is about to be stored:
   * looking at a workspace leaves no trace in it. Rejects with `InPlaceOfDirectory` where something else stands in the
   * place of one.
   */
  async ensure(inner: string): Promise<void> {
    await this.#ensureTop();
    for (const step of this.#stepsTo(inner)) await ensurePrivateDirectory(step);
  }

  /**
   * Whether this is a directory of the state, with no link on the way to it. Rejects when the disk refuses to tell.
   */
  async holds(inner: string): Promise<boolean> {
    const steps = [this.path, ...this.#stepsTo(inner)];
    for (const step of steps) {
      try {
        if (!(await lstat(step)).isDirectory()) return false;
      } catch (error) {
        if (isErrno(error, 'ENOENT', 'ENOTDIR')) return false;
        throw error;
      }
    }
    return true;
  }

  /** What others may do with it is taken away; a directory that a person chose may hold other things, too. */
  closeToOthers(part: 'whole' | 'inside'): void {
    const { sessions, locks, attic, backups, temporaries, plans, texts } = this;
    const inside = [dirname(sessions), locks, attic, backups, temporaries, plans, texts];
    for (const path of part === 'whole' ? [this.path] : inside) closeToOthers(path);
  }

  /** The names in a directory of the state; none where there is none. */
  async names(inner: string): Promise<readonly string[]> {
    if (!(await this.holds(inner))) return [];
    try {
      return await readdir(inner);
    } catch (error) {
      if (isErrno(error, 'ENOENT')) return [];
      throw error;
    }
  }

  #stepsTo(inner: string): readonly string[] {
    const steps: string[] = [];
    for (let path = inner; path !== this.path; path = dirname(path)) steps.unshift(path);
    return steps;
  }

  async #ensureTop(): Promise<void> {
    await makeDirectory(dirname(this.path));
    await ensurePrivateDirectory(this.path);
    try {
      await createFile(join(this.path, '.gitignore'), Buffer.from('*\n'));
    } catch (error) {
      if (!isErrno(error, 'EEXIST')) throw error;
    }
  }
}

/** A state directory that a person chose may be a link; the one inside a workspace may not. */
export async function resolveChosenDirectory(path: string): Promise<string> {
  try {
    await lstat(path);
    return await realpath(path);
  } catch (error) {
    if (isErrno(error, 'ENOENT') && dirname(path) !== path) {
      return join(await resolveChosenDirectory(dirname(path)), basename(path));
    }
    // What is wrong with it is told by whoever needs it.
    if (errnoOf(error) !== null) return path;
    throw error;
  }
}

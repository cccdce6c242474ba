import type { Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, sep } from 'node:path';
import { ensurePrivateDirectory, makeDirectory } from './disk/directories.ts';
import { errnoOf, isErrno } from './disk/disk-error.ts';
import { createFile } from './disk/files.ts';
import { closeToOthers } from './disk/private-modes.ts';

const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u;

/** Anything else is rejected before the disk is accessed, because an id becomes a directory name. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

/**
 * The directory for everything that Orion stores about a workspace.
 *
 * D1. It may have come with a foreign repository, so a link below it is never accepted as a directory. Callers use
 *     `names` or `holds` before they read or remove, and `ensure` before they write.
 * D2. Several workspaces may share it, and the paths in its records are relative. Each record names its workspace's
 *     `root` and applies only there. The root is relative to the state directory, so both can be moved together.
 */
export class StateDirectory {
  readonly path: string;
  /** The `root` that records carry. */
  readonly root: string;
  readonly sessions: string;
  readonly locks: string;
  readonly attic: string;
  readonly backups: string;
  /** A note for each temporary file beside a target, so that the next start can remove it. */
  readonly temporaries: string;
  /** A journal for each multi-file plan in progress. */
  readonly plans: string;
  /** Scratch files. */
  readonly texts: string;
  /** Texts that a person typed. */
  readonly lists: string;
  /** Token and address of a server. */
  readonly server: string;
  /** Protected files and folders that commands made. */
  readonly setAside: string;

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
    this.lists = join(path, 'lists');
    this.server = join(path, 'server');
    this.setAside = join(path, 'set_aside');
  }

  /** Whether a record with this `root` belongs to this workspace. A record without a root may. */
  isAboutHere(root: unknown): boolean {
    return root === undefined || root === this.root;
  }

  /**
   * Creates the directory and one inside it. Called only when something is about to be stored: inspecting a workspace
   * leaves no trace. Rejects with `InPlaceOfDirectory` if something else has the name.
   */
  async ensure(inner: string): Promise<void> {
    await this.#ensureTop();
    for (const step of this.#stepsTo(inner)) await ensurePrivateDirectory(step);
  }

  /** Whether this is a directory of the state, with no link in its path. Rejects if the disk reports an error. */
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

  /** Removes other users' access. A directory that a person chose may contain other files, which stay as they are. */
  closeToOthers(part: 'whole' | 'inside'): void {
    const { sessions, locks, attic, backups, temporaries, plans, texts, setAside, lists, server } =
      this;
    const inside = [dirname(sessions), locks, attic, backups, temporaries, plans, texts, setAside];
    inside.push(lists, server);
    for (const path of part === 'whole' ? [this.path] : inside) closeToOthers(path);
  }

  /** The names in a directory of the state; empty if it does not exist. */
  async names(inner: string): Promise<readonly string[]> {
    return (await this.#entries(inner)).map(({ name }) => name);
  }

  /** As `names`, of directories alone. */
  async directories(inner: string): Promise<readonly string[]> {
    const entries = await this.#entries(inner);
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }

  async #entries(inner: string): Promise<readonly Dirent[]> {
    if (!(await this.holds(inner))) return [];
    try {
      return await readdir(inner, { withFileTypes: true });
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
    // The code that uses the directory reports what is wrong with it.
    if (errnoOf(error) !== null) return path;
    throw error;
  }
}

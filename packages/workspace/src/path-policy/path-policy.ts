/**
 * Resolves targets and decides whether they may be changed.
 *
 * P1. A target is judged by its real location. Every component is resolved, including those below a parent that does
 *     not exist yet.
 * P2. Containment compares whole names of resolved paths, never string prefixes.
 * P3. Protection applies to the path as written and to its resolved path, by their names and by the folders above them.
 */
import type { Stats } from 'node:fs';
import { constants } from 'node:fs';
import { access, realpath } from 'node:fs/promises';
import { dirname, relative, sep } from 'node:path';
import { OrionError } from '@orion/contracts';
import type { AllowedTarget, TargetSnapshot, WriteOperation } from '@orion/contracts';
import picomatch from 'picomatch';
import { fileExists } from '../commit/commit-errors.ts';
import { describeFile, hashPath } from '../commit/hash-file.ts';
import { isErrno, onDisk, toDiskError } from '../disk/disk-error.ts';
import { readRegularFile } from '../disk/files.ts';
import type { StateDirectory } from '../state-directory.ts';
import { gitFolderAbove } from './git-folders.ts';
import { invalidTarget, parseTarget, shown } from './parse-target.ts';
import { protectionOf } from './protected-paths.ts';
import { isInside, resolvePath } from './resolve-path.ts';

export type PathPolicyOptions = {
  /** Resolved. */
  readonly root: string;
  readonly state: StateDirectory;
  /** The root as given. Absolute targets may start with it. */
  readonly givenRoot: string;
  readonly allowPaths: readonly string[];
  readonly allowHardLink: boolean;
  readonly maxTargetBytes: number;
  readonly interactive: boolean;
  /** The resolved directory of this user's keys and permissions. No setting allows a write there. */
  readonly userDirectory: string | undefined;
  /** Asks a person about a protected path that no glob allows. */
  readonly confirmProtectedPath: ConfirmProtectedPath | undefined;
};

/**
 * Resolves to whether this path, protected by this rule, may be written. If it rejects, the write fails with the same
 * error.
 */
export type ConfirmProtectedPath = (path: string, rule: string) => Promise<boolean>;

/** A path inside the workspace. `stat` is null if nothing exists there yet. */
export type ContainedPath = {
  /** As written, normalized, relative to the root, separated by `/`. */
  readonly path: string;
  readonly realPath: string;
  readonly stat: Stats | null;
  /** The nearest existing directory. */
  readonly existingParent: string;
};

type FileFacts = Omit<TargetSnapshot, 'path' | 'realPath' | 'exists' | 'allowed'>;
type AllowedPath = ContainedPath & { readonly allowed: AllowedTarget };

export class PathPolicy {
  readonly #options: PathPolicyOptions;
  readonly isAllowed: (path: string) => boolean;
  /** Ask only once per path, because begin and commit check it, too. */
  readonly #answers: Map<string, Promise<boolean>> = new Map();

  constructor(options: PathPolicyOptions) {
    this.#options = options;
    this.isAllowed = matcherOf(options.allowPaths);
  }

  get root(): string {
    return this.#options.root;
  }

  /** Whether a resolved path is part of Orion's state or of the user's own configuration. */
  isOwn(realPath: string): boolean {
    return this.#ownerOf(realPath) !== null;
  }

  #ownerOf(realPath: string): string | null {
    const { state, userDirectory } = this.#options;
    if (isInside(state.path, realPath)) return 'the state directory';
    if (userDirectory !== undefined && isInside(userDirectory, realPath)) {
      return 'your own configuration';
    }
    return null;
  }

  /**
   * Resolves a path inside the workspace that a model may read: nothing of Orion's own, except what `isGiven` says was
   * given to it.
   */
  async containReadable(
    target: string,
    isGiven: (realPath: string) => boolean = () => false,
  ): Promise<ContainedPath> {
    const found = await this.contain(target);
    const owner = isGiven(found.realPath) ? null : this.#ownerOf(found.realPath);
    if (owner === null) return found;
    const isState = owner === 'the state directory';
    throw new OrionError({
      code: 'PROTECTED_PATH',
      message: `${shown(found.path)} belongs to ${isState ? "Orion's own state" : owner}.`,
      hint: 'Read a file of the project.',
    });
  }

  /** Resolves a path inside the workspace. */
  async contain(target: string): Promise<ContainedPath> {
    const components = await this.#componentsInside(target);
    const found = await resolvePath(this.#options.root, components);
    const path = components.join('/');
    switch (found.kind) {
      case 'loop':
        throw invalidTarget(target, 'its symbolic links go round in a circle');
      case 'unnamable':
        throw invalidTarget(
          target,
          'a symbolic link in it leads to a name that is not valid UTF-8',
        );
      case 'blocked':
        throw new OrionError({
          code: 'DIR_CREATE_FAILED',
          message: `${shown(target)} cannot be used: a file stands where a directory is needed.`,
          hint: 'Choose another name.',
        });
      case 'refused':
        throw toDiskError(found.error, `look at ${shown(target)}`);
      case 'missing':
      case 'found': {
        const { realPath } = found;
        if (!isInside(this.#options.root, realPath)) {
          throw invalidTarget(target, 'it leads out of the workspace');
        }
        return found.kind === 'found'
          ? { path, realPath, stat: found.stat, existingParent: dirname(realPath) }
          : { path, realPath, stat: null, existingParent: found.parent };
      }
    }
  }

  /** The hash of the current file, or null if there is none. */
  async hashOf(path: string): Promise<string | null> {
    const { realPath } = await this.contain(path);
    return (await hashPath(realPath))?.sha256 ?? null;
  }

  /** Resolves a path inside the workspace that this operation may change now. */
  async containTarget(target: string, operation: WriteOperation): Promise<AllowedPath> {
    const contained = await this.contain(target);
    this.#requireNamable(contained);
    const paths = await this.#requireUnprotected(contained);
    requireFitting(contained, operation);
    const hardLink = contained.stat !== null && contained.stat.nlink > 1;
    if (hardLink && !this.#options.allowHardLink) {
      throw new OrionError({
        code: 'HARD_LINK',
        message: `${shown(contained.path)} has more than one name (hard links); a write would separate them.`,
      });
    }
    await requireWritable(contained);
    return { ...contained, allowed: { paths, hardLink } };
  }

  /** The same, with the properties and hash of the current file. */
  async snapshot(target: string, operation: WriteOperation): Promise<TargetSnapshot> {
    const contained = await this.containTarget(target, operation);
    const { path, realPath } = contained;
    const found = contained.stat === null ? null : await this.#describe(contained);
    return {
      path,
      realPath,
      exists: found !== null,
      ...(found ?? { sha256: null, bytes: 0, mode: 0, eol: 'none', bom: false }),
      ...allowedOf(contained),
    };
  }

  #describe({ path, realPath }: ContainedPath): Promise<FileFacts | null> {
    const { maxTargetBytes } = this.#options;
    return onDisk(`read ${shown(path)}`, () =>
      readRegularFile(realPath, async (handle) => {
        const { mode } = await handle.stat();
        const facts = await describeFile(handle, maxTargetBytes);
        if (facts !== null) return { mode: mode & 0o7777, ...facts };
        throw new OrionError({
          code: 'CONTENT_TOO_LARGE',
          message: `${shown(path)} has more than ${maxTargetBytes} bytes.`,
          hint: 'Change a smaller file.',
        });
      }),
    );
  }

  /** The components below the root, for a relative target or an absolute one inside the root. */
  async #componentsInside(target: string): Promise<readonly string[]> {
    const parsed = parseTarget(target);
    if (!parsed.absolute) return parsed.components;
    const path = `/${parsed.components.join('/')}`;
    for (const root of [this.#options.root, this.#options.givenRoot]) {
      if (path !== root && isInside(root, path)) return relative(root, path).split(sep);
    }
    const resolved = await this.#resolveAbsolute(path);
    if (resolved !== null) return resolved;
    throw invalidTarget(target, 'it lies outside the workspace');
  }

  /** An absolute path may lead to the root through links above it. */
  async #resolveAbsolute(path: string): Promise<readonly string[] | null> {
    const below: string[] = [];
    for (let parent = path; parent !== dirname(parent); parent = dirname(parent)) {
      try {
        const real = await realpath(parent);
        if (isInside(this.#options.root, real)) {
          const inside = relative(this.#options.root, real).split(sep);
          const components = [...inside.filter((name) => name !== ''), ...below];
          return components.length === 0 ? null : components;
        }
      } catch (error) {
        if (!isErrno(error, 'ENOENT', 'ENOTDIR')) return null;
      }
      below.unshift(parent.slice(dirname(parent).length).replace(/^\//u, ''));
    }
    return null;
  }

  /** The person's answer is valid while this workspace is open. */
  async #isConfirmed(path: string, rule: string): Promise<boolean> {
    const { confirmProtectedPath } = this.#options;
    if (confirmProtectedPath === undefined) return false;
    const asked = this.#answers.get(path) ?? confirmProtectedPath(path, rule);
    this.#answers.set(path, asked);
    try {
      return await asked;
    } catch (error) {
      this.#answers.delete(path);
      throw error;
    }
  }

  /** A change is recorded by its real path, by which it has to be found again to be undone. */
  #requireNamable({ path, realPath }: ContainedPath): void {
    const real = relative(this.#options.root, realPath).split(sep).join('/');
    if (real !== path && real !== '') parseTarget(real);
  }

  /** Returns the protected names that were allowed. */
  async #requireUnprotected(contained: ContainedPath): Promise<readonly string[]> {
    const { root, interactive } = this.#options;
    const real = relative(root, contained.realPath).split(sep).join('/');
    const owner = this.#ownerOf(contained.realPath);
    if (owner !== null) throw protectedPath(contained.path, owner);
    const allowed: string[] = [];
    const requireYes = async (path: string, rule: string, reason: string): Promise<void> => {
      if (!this.isAllowed(path) && !(await this.#isConfirmed(path, rule))) {
        throw protectedPath(contained.path, rule, reason);
      }
      if (!allowed.includes(path)) allowed.push(path);
    };
    for (const path of new Set([contained.path, real])) {
      const protection = protectionOf(path.split('/'));
      if (protection.kind === 'never') throw protectedPath(contained.path, protection.rule);
      if (protection.kind === 'free') continue;
      if (protection.kind === 'ask_when_interactive' && !interactive) continue;
      await requireYes(path, protection.rule, protection.reason);
    }
    if (allowed.includes(real)) return allowed;
    const gitFolder = await gitFolderAbove(root, contained.realPath);
    if (gitFolder !== null) {
      const folder = relative(root, gitFolder).split(sep).join('/');
      const rule = folder === '' ? '**' : `${folder}/**`;
      await requireYes(real, rule, 'git runs its hooks and obeys its configuration');
    }
    return allowed;
  }
}

/** `!` leaves out what the other globs match. To the library it is a glob of its own, which matches everything else. */
function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const given = globs.filter((glob) => glob !== '' && !glob.startsWith('!'));
  if (given.length === 0) return () => false;
  const ignore = globs.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1));
  return picomatch(given, { dot: true, strictSlashes: true, ignore });
}

/** Without a reason, the path is Orion's own and cannot be allowed. */
function protectedPath(path: string, rule: string, reason?: string): OrionError {
  return new OrionError({
    code: 'PROTECTED_PATH',
    message: `${shown(path)} is protected (${rule}${reason === undefined ? '' : `: ${reason}`}).`,
    ...(reason === undefined
      ? { hint: 'Orion keeps its own state there; choose another name.' }
      : {}),
    details: { rule },
  });
}

function allowedOf({ allowed }: AllowedPath): Pick<TargetSnapshot, 'allowed'> {
  return allowed.paths.length > 0 || allowed.hardLink ? { allowed } : {};
}

function requireFitting(contained: ContainedPath, operation: WriteOperation): void {
  const { stat, path } = contained;
  if (stat === null) {
    if (operation === 'create' || operation === 'overwrite') return;
    throw new OrionError({
      code: 'FILE_NOT_FOUND',
      message: `There is no file ${shown(path)} that ${operation} could change.`,
    });
  }
  requireFile(contained);
  if (operation === 'create') throw fileExists(path);
}

/** Throws FILE_NOT_FOUND, or NOT_A_FILE for anything but a regular file or a folder. */
export function requireExisting(found: ContainedPath): void {
  if (found.stat === null) {
    throw new OrionError({
      code: 'FILE_NOT_FOUND',
      message: `There is no ${shown(found.path)}.`,
    });
  }
  if (!found.stat.isDirectory()) requireFile(found);
}

/** Throws IS_DIRECTORY or NOT_A_FILE if anything but a regular file exists. */
export function requireFile({ stat, path }: ContainedPath): void {
  if (stat === null || stat.isFile()) return;
  throw stat.isDirectory()
    ? new OrionError({ code: 'IS_DIRECTORY', message: `${shown(path)} is a directory.` })
    : new OrionError({ code: 'NOT_A_FILE', message: `${shown(path)} is not a regular file.` });
}

/** A rename does not need write permission for the file. But a read-only file was made so on purpose. */
async function requireWritable(contained: ContainedPath): Promise<void> {
  await onDisk(`write ${shown(contained.path)}`, async () => {
    if (contained.stat !== null) {
      await access(contained.realPath, constants.R_OK | constants.W_OK);
    }
    await access(contained.existingParent, constants.W_OK | constants.X_OK);
  });
}

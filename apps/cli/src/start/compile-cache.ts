import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';

/**
 * Node keeps what it has compiled in a folder, and runs what it finds there. So the folder has to be this user's alone.
 *
 * K1. It is never the shared temporary folder, which is what Node takes when none is named, nor in it.
 * K2. Every folder on the way to it belongs to this user or to the system, is not a link, and is writable by no other user.
 * K3. It is never in the workspace, where a model writes files.
 * K4. Without such a folder there is no cache: a sentence takes 29 ms more of the processor (docs/decisions/0018).
 */
export type CacheFacts = {
  readonly platform: NodeJS.Platform;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Null when it is unknown. */
  readonly homeDirectory: string | null;
  /** Folders that a model may write to. */
  readonly workspaces: readonly string[];
  /** Undefined where there are none. */
  readonly user: number | undefined;
  /** The first folder of the way that is looked at, when not the root of the disk. */
  readonly from?: string;
};

/** A folder that the user has named for all of Node is used by Node without us. */
export function enableCompileCache(facts: CacheFacts): void {
  if ((facts.environment['NODE_COMPILE_CACHE'] ?? '') !== '') return;
  const folder = compileCacheFolder(facts);
  if (folder !== null) module.enableCompileCache(folder);
}

/** The folder, which is there then; null when it cannot be had. */
export function compileCacheFolder(facts: CacheFacts): string | null {
  const base = cacheHome(facts);
  if (base === null) return null;
  const folder = join(base, 'orion', 'compile');
  const shared = [tmpdir(), '/tmp', ...facts.workspaces].flatMap((each) => [each, real(each)]);
  if (shared.some((each) => isInside(folder, each))) return null;
  try {
    return isPrivate(folder, dirname(base), facts) ? folder : null;
  } catch {
    return null;
  }
}

/** The folders that a command may work in, before it is parsed: the current one if none is named. */
export function possibleWorkspaces(facts: {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly currentDirectory: string;
}): readonly string[] {
  const { argv, environment, currentDirectory } = facts;
  const named = argv.flatMap((word, index) => {
    const inOne = /^(?:-C|--cwd=)(.+)$/su.exec(word)?.[1];
    if (inOne !== undefined) return [inOne];
    return word === '-C' || word === '--cwd' ? [argv[index + 1] ?? ''] : [];
  });
  return [environment['ORION_CWD'] ?? '', ...named, ''].map((each) =>
    resolve(currentDirectory, each),
  );
}

function cacheHome({ platform, environment, homeDirectory }: CacheFacts): string | null {
  if (platform === 'win32') {
    const local = environment['LOCALAPPDATA'] ?? '';
    return isAbsolute(local) ? local : null;
  }
  const chosen = environment['XDG_CACHE_HOME'] ?? '';
  if (platform !== 'darwin' && isAbsolute(chosen)) return resolve(chosen);
  if (homeDirectory === null || !isAbsolute(homeDirectory)) return null;
  return platform === 'darwin'
    ? join(homeDirectory, 'Library', 'Caches')
    : join(homeDirectory, '.cache');
}

const WRITABLE_BY_OTHERS = 0o022;

/** What is missing below `existing` is made, once all that is above it is known to be ours. */
function isPrivate(folder: string, existing: string, { user, from }: CacheFacts): boolean {
  for (const step of wayTo(folder, from ?? parse(folder).root)) {
    if (isInside(step, existing) && step !== existing) makeFolder(step);
    const stat = lstatSync(step);
    if (!stat.isDirectory()) return false;
    if (user === undefined) continue;
    if (stat.uid !== user && stat.uid !== 0) return false;
    if ((stat.mode & WRITABLE_BY_OTHERS) !== 0) return false;
  }
  return true;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function wayTo(folder: string, first: string): readonly string[] {
  const way = [folder];
  while (way[0] !== undefined && way[0] !== first && dirname(way[0]) !== way[0]) {
    way.unshift(dirname(way[0]));
  }
  return way;
}

function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

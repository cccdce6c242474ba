import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a check may look at: the files that are, or are about to be, under version control. */
export interface Repository {
  readonly root: string;
  /** Paths with `/`, relative to the root. */
  readonly files: readonly string[];
  read(path: string): string;
  has(path: string): boolean;
}

/** A broken rule: where, and what to do about it. */
export interface Finding {
  readonly check: string;
  readonly file: string;
  readonly message: string;
}

export function openRepository(
  root: string,
  files: readonly string[] = listFiles(root),
): Repository {
  return {
    root,
    files,
    read: (path) => readFileSync(join(root, path), 'utf8'),
    has: (path) => existsSync(join(root, path)),
  };
}

function listFiles(root: string): string[] {
  const listed = existsSync(join(root, '.git'))
    ? execFileSync(
        'git',
        ['-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'],
        {
          cwd: root,
          encoding: 'utf8',
          maxBuffer: 64 * 1024 * 1024,
        },
      ).split('\0')
    : walk(root);
  return listed
    .filter(
      (path) => path !== '' && lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile(),
    )
    .toSorted();
}

/** For an unpacked archive, which has no git to ask. */
function walk(root: string): string[] {
  const generated = /(^|\/)(node_modules|dist|coverage|\.turbo|\.orion)(\/|$)/;
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => !generated.test(path));
}

/** Files in which a NUL among the first bytes says that they are no text are left alone. */
export function isText(content: string): boolean {
  return !content.slice(0, 8000).includes('\0');
}

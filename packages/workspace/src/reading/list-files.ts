/**
 * The files of a workspace as a person thinks of them: sorted, without what `.gitignore` files,
 * repositories and package managers hide. Links are not followed.
 */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import ignore from 'ignore';
import type { Ignore } from 'ignore';
import { errnoOf } from '../disk/disk-error.ts';
import { readSmallFile } from '../disk/files.ts';

const HIDDEN: ReadonlySet<string> = new Set(['.git', 'node_modules', '.orion']);
const MAX_IGNORE_BYTES = 1024 * 1024;
/** Names looked at, so that a huge tree of ignored files cannot hold a turn up. */
const MAX_ENTRIES = 100_000;

type IgnoreFile = {
  /** Of the directory that holds it, with a `/` at the end, empty for the root. */
  readonly prefix: string;
  readonly rules: Ignore;
};

export type FileList = { readonly files: readonly string[]; readonly truncated: boolean };

export async function listFiles(
  root: string,
  stateDirectory: string,
  limit: number,
): Promise<FileList> {
  const files: string[] = [];
  let seen = 0;
  let truncated = false;

  async function visit(prefix: string, ignoreFiles: readonly IgnoreFile[]): Promise<void> {
    const directory = join(root, prefix);
    const entries = await entriesOf(directory);
    const own = await readIgnoreFile(directory, prefix);
    const rules = own === null ? ignoreFiles : [own, ...ignoreFiles];
    for (const entry of entries) {
      seen += 1;
      if (truncated) return;
      if (seen > MAX_ENTRIES) {
        truncated = true;
        return;
      }
      const path = prefix + entry.name;
      if (HIDDEN.has(entry.name) || join(root, path) === stateDirectory) continue;
      if (isIgnored(rules, path, entry.isDirectory)) continue;
      if (entry.isDirectory) {
        await visit(`${path}/`, rules);
      } else if (files.length === limit) {
        truncated = true;
      } else {
        files.push(path);
      }
    }
  }

  await visit('', []);
  return { files, truncated };
}

type Entry = { readonly name: string; readonly isDirectory: boolean };

/** Sorted as their whole paths sort. A directory that cannot be read is an empty one. */
async function entriesOf(directory: string): Promise<readonly Entry[]> {
  try {
    const found = await readdir(directory, { withFileTypes: true });
    return found
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
      .toSorted((a, b) => compare(sortName(a), sortName(b)));
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return [];
  }
}

function sortName(entry: Entry): string {
  return entry.isDirectory ? `${entry.name}/` : entry.name;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

async function readIgnoreFile(directory: string, prefix: string): Promise<IgnoreFile | null> {
  const file = await readSmallFile(join(directory, '.gitignore'), MAX_IGNORE_BYTES);
  if (file.kind !== 'text') return null;
  return { prefix, rules: ignore({ allowRelativePaths: true }).add(file.text) };
}

/** The nearest file that says anything about the path decides, as in git. */
function isIgnored(rules: readonly IgnoreFile[], path: string, isDirectory: boolean): boolean {
  for (const file of rules) {
    const inside = path.slice(file.prefix.length);
    const verdict = file.rules.test(isDirectory ? `${inside}/` : inside);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}

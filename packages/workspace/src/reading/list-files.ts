/**
 * Lists the files of a workspace as a person sees them: sorted, without what `.gitignore` files, repositories and
 * package managers hide. Links are not followed.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { RefusedFile } from '@orion/contracts';
import { errnoOf } from '../disk/disk-error.ts';
import type { Budget } from './glob.ts';
import { judgePath, MAX_IGNORE_BYTES, readIgnoreRules } from './ignore-rules.ts';
import type { IgnoreRules } from './ignore-rules.ts';
import { readForeignFile } from './foreign-file.ts';

const HIDDEN: ReadonlySet<string> = new Set(['.git', 'node_modules', '.orion']);
/** Entries examined. Limits the time spent on a huge tree of ignored files. */
const MAX_ENTRIES = 100_000;
/** Ignore files that apply to a path. */
const MAX_NESTED = 64;
/** About half a second of matching. */
const MATCHING_BUDGET = 50_000_000;

type IgnoreFile = {
  /** Its directory, with a trailing `/`, as `latin1`; empty for the root. */
  readonly prefix: string;
  readonly path: string;
  readonly rules: IgnoreRules;
};

export type FileList = {
  readonly files: readonly string[];
  readonly truncated: boolean;
  readonly refused: readonly RefusedFile[];
};

/** The number of refused files to report. */
const MAX_REFUSED = 5;

export async function listFiles(
  root: string,
  stateDirectory: string,
  limit: number,
): Promise<FileList> {
  const files: string[] = [];
  const refused: RefusedFile[] = [];
  const budget: Budget = { left: MATCHING_BUDGET };
  let seen = 0;
  let truncated = false;

  async function visit(prefix: string, ignoreFiles: readonly IgnoreFile[]): Promise<void> {
    const directory = join(root, prefix);
    const entries = await entriesOf(directory);
    const own = await ignoreFileOf(prefix, ignoreFiles.length);
    const rules = own === null ? ignoreFiles : [own, ...ignoreFiles];
    for (const entry of entries) {
      seen += 1;
      truncated ||= seen > MAX_ENTRIES;
      if (truncated) return;
      const path = prefix + entry.name;
      if (HIDDEN.has(entry.name) || join(root, path) === stateDirectory) continue;
      if (isIgnored(rules, path, entry.isDirectory())) continue;
      if (entry.isDirectory()) {
        await visit(`${path}/`, rules);
      } else if (files.length === limit) {
        truncated = true;
      } else {
        files.push(path);
      }
    }
  }

  async function ignoreFileOf(prefix: string, nested: number): Promise<IgnoreFile | null> {
    const path = `${prefix}.gitignore`;
    const file = await readForeignFile(join(root, path), MAX_IGNORE_BYTES);
    if (file.kind === 'missing') return null;
    const read = file.kind === 'refused' ? file : readIgnoreRules(file.bytes.toString('latin1'));
    if (read.kind === 'refused') {
      refuse(path, read.reason);
    } else if (nested >= MAX_NESTED) {
      refuse(path, `it lies under ${MAX_NESTED} others`);
    } else if (budget.left >= 0) {
      return { prefix: bytesOf(prefix), path, rules: read.rules };
    }
    return null;
  }

  function refuse(path: string, reason: string): void {
    if (refused.length < MAX_REFUSED) refused.push({ path, reason });
  }

  /** As in git, the nearest file with a verdict decides. */
  function isIgnored(rules: readonly IgnoreFile[], path: string, isFolder: boolean): boolean {
    const bytes = bytesOf(path);
    for (const file of rules) {
      if (budget.left < 0) return false;
      const below = { path: bytes.slice(file.prefix.length), isFolder };
      const verdict = judgePath(file.rules, below, budget);
      if (budget.left < 0) refuse(file.path, 'matching its patterns takes too long');
      if (verdict !== null) return verdict === 'ignored';
    }
    return false;
  }

  await visit('', []);
  return { files, truncated, refused };
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Sorted like full paths. An unreadable directory counts as empty. */
async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  try {
    const found = await readdir(directory, { withFileTypes: true });
    return found
      .filter((entry) => entry.isFile() || entry.isDirectory())
      .toSorted((a, b) => compare(sortName(a), sortName(b)));
  } catch (error) {
    if (errnoOf(error) === null) throw error;
    return [];
  }
}

function sortName(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name;
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

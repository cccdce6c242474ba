/**
 * Walks the files of a workspace as a person sees them: sorted, without what `.gitignore` files, repositories and
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

const IGNORE_FILE = '.gitignore';
const HIDDEN: ReadonlySet<string> = new Set(['.git', 'node_modules', '.orion']);
/** Entries examined. Limits the time spent on a huge tree of ignored files. */
const MAX_ENTRIES = 100_000;
/** Ignore files that apply to a path. */
const MAX_NESTED = 64;
/** The bytes of the ignore files that apply to a path: their rules are held in memory. */
const MAX_BYTES_IN_FORCE = 512 * 1024;
/** About half a second of matching. */
const MATCHING_BUDGET = 50_000_000;
/** What parsing one byte of an ignore file takes of that budget. */
const PARSING_COST = 8;
/** The number of refused files to report. */
const MAX_REFUSED = 5;
/** Files that a walk yields at once. */
const BATCH = 64;

type IgnoreFile = {
  /** Its directory, with a trailing `/`, as `latin1`; empty for the root. */
  readonly prefix: string;
  readonly path: string;
  /** The size of this file and of those above it. */
  readonly bytesInForce: number;
  readonly rules: IgnoreRules;
};

/** A folder that is being walked. */
type Folder = {
  /** Relative to the root, with a trailing `/`; empty for the root. */
  readonly prefix: string;
  readonly entries: Iterator<Dirent>;
  readonly ignoreFiles: readonly IgnoreFile[];
};

/** The root, and which resolved paths are Orion's own. */
export type WalkedPlace = {
  readonly root: string;
  readonly isOwn: (realPath: string) => boolean;
};

export class FileWalk {
  /** Whether there were too many entries to look at all of them. */
  truncated = false;
  readonly refused: RefusedFile[] = [];
  readonly #policy: WalkedPlace;
  readonly #maxEntries: number;
  readonly #budget: Budget = { left: MATCHING_BUDGET };
  #seen = 0;

  constructor(policy: WalkedPlace, maxEntries: number = MAX_ENTRIES) {
    this.#policy = policy;
    this.#maxEntries = maxEntries;
  }

  /**
   * All files below this folder, in batches, as paths relative to the root. `below`: the names of the folder.
   * `recursive`: whether folders below it are entered.
   */
  async *files(
    below: readonly string[] = [],
    recursive: boolean = true,
  ): AsyncGenerator<readonly string[], void, undefined> {
    const open = [await this.#open(below)];
    let batch: string[] = [];
    for (;;) {
      const folder = open.at(-1);
      if (folder === undefined) break;
      const { value: entry, done } = folder.entries.next();
      if (done === true) {
        open.pop();
        continue;
      }
      this.#seen += 1;
      if (this.#seen > this.#maxEntries) {
        this.truncated = true;
        break;
      }
      const path = folder.prefix + entry.name;
      if (this.#isHidden(folder, path, entry)) continue;
      if (entry.isDirectory()) {
        if (recursive) open.push(await this.#enter(`${path}/`, folder.ignoreFiles));
        continue;
      }
      batch.push(path);
      if (batch.length < BATCH) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  /** The ignore files of the folders above apply too. The folder itself may be ignored: it was named. */
  async #open(below: readonly string[]): Promise<Folder> {
    let ignoreFiles: readonly IgnoreFile[] = [];
    let prefix = '';
    for (const name of below) {
      ignoreFiles = await this.#withOwn(prefix, ignoreFiles);
      prefix += `${name}/`;
    }
    return this.#enter(prefix, ignoreFiles);
  }

  async #enter(prefix: string, above: readonly IgnoreFile[]): Promise<Folder> {
    const found = await entriesOf(join(this.#policy.root, prefix));
    const isOwn = found.some(({ name }) => name === IGNORE_FILE);
    const ignoreFiles = isOwn ? await this.#withOwn(prefix, above) : above;
    return { prefix, entries: walked(found).values(), ignoreFiles };
  }

  #isHidden({ ignoreFiles }: Folder, path: string, entry: Dirent): boolean {
    if (HIDDEN.has(entry.name) || this.#policy.isOwn(join(this.#policy.root, path))) return true;
    return this.#isIgnored(ignoreFiles, path, entry.isDirectory());
  }

  async #withOwn(prefix: string, above: readonly IgnoreFile[]): Promise<readonly IgnoreFile[]> {
    if (this.#budget.left < 0) return above;
    const own = await this.#ignoreFileOf(prefix, above);
    return own === null ? above : [own, ...above];
  }

  /** The bounds are checked first: what exceeds them is not parsed. */
  async #ignoreFileOf(prefix: string, above: readonly IgnoreFile[]): Promise<IgnoreFile | null> {
    const path = prefix + IGNORE_FILE;
    const file = await readForeignFile(join(this.#policy.root, path), MAX_IGNORE_BYTES);
    if (file.kind === 'missing') return null;
    if (file.kind === 'refused') return this.#refuse(path, file.reason);
    const bytesInForce = (above[0]?.bytesInForce ?? 0) + file.bytes.length;
    this.#budget.left -= PARSING_COST * file.bytes.length;
    if (this.#budget.left < 0) return this.#refuse(path, 'reading its patterns takes too long');
    if (above.length >= MAX_NESTED) {
      return this.#refuse(path, `it lies under ${MAX_NESTED} others`);
    }
    if (bytesInForce > MAX_BYTES_IN_FORCE) {
      const reason = `together with those above it, it has more than ${MAX_BYTES_IN_FORCE} bytes`;
      return this.#refuse(path, reason);
    }
    const read = readIgnoreRules(file.bytes.toString('latin1'));
    if (read.kind === 'refused') return this.#refuse(path, read.reason);
    return { prefix: bytesOf(prefix), path, bytesInForce, rules: read.rules };
  }

  #refuse(path: string, reason: string): null {
    if (this.refused.length < MAX_REFUSED) this.refused.push({ path, reason });
    return null;
  }

  /** As in git, the nearest file with a verdict decides. */
  #isIgnored(rules: readonly IgnoreFile[], path: string, isFolder: boolean): boolean {
    const budget = this.#budget;
    const bytes = bytesOf(path);
    for (const file of rules) {
      if (budget.left < 0) return false;
      const below = { path: bytes.slice(file.prefix.length), isFolder };
      const verdict = judgePath(file.rules, below, budget);
      if (budget.left < 0) this.#refuse(file.path, 'matching its patterns takes too long');
      if (verdict !== null) return verdict === 'ignored';
    }
    return false;
  }
}

export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** Files and folders, sorted like full paths. */
function walked(found: readonly Dirent[]): readonly Dirent[] {
  return found
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .toSorted((a, b) => compare(sortName(a), sortName(b)));
}

/** An unreadable directory counts as empty. */
async function entriesOf(directory: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(directory, { withFileTypes: true });
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

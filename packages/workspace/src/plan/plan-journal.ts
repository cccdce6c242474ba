/**
 * `.orion/plans/<id>/journal.json`: the files that a plan is about to change.
 *
 * W1. A journal is durable before the first file changes. It is removed after the last change, or after all changes
 *     were undone.
 * W2. Only journals of dead processes are processed. A journal is never renewed: its owner on another host counts as
 *     dead only if the locks of all its files are free.
 * W3. If all files of such a plan were changed, a start leaves them. Otherwise it undoes the changes that were made: a
 *     plan that did not report success did not happen, so it can be run again.
 * W4. A file that was edited since stays as it is.
 * W5. While one of the files cannot be read, the case is undecided and nothing is done.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, WritingRecord } from '@orion/contracts';
import { OrionError, isTextOrNull } from '@orion/contracts';
import { hashPath } from '../commit/hash-file.ts';
import { removeIfOlder, syncDirectory } from '../disk/directories.ts';
import { toDiskError } from '../disk/disk-error.ts';
import { createFile, isThere, jsonBytes, readFields, replaceFile } from '../disk/files.ts';
import { judgeOwner } from '../ownership/judge-owner.ts';
import { parseOwner } from '../ownership/owner-record.ts';
import type { ProcessObserver } from '../ownership/process-identity.ts';
import type { LockTarget } from '../ownership/target-locks.ts';
import { shown } from '../path-policy/parse-target.ts';
import type { PathPolicy } from '../path-policy/path-policy.ts';
import type { EventSink } from '../session-dir/session-store-options.ts';
import { hasShape, isText, listOf, shaped } from '../shape.ts';
import type { Shape } from '../shape.ts';
import { isSessionId } from '../state-directory.ts';
import type { StateDirectory } from '../state-directory.ts';

const NAME = 'journal.json';
const MAX_JOURNAL_BYTES = 64 * 1024 * 1024;
/** More than any plan has operations, and each of them changes a file at most. */
const MAX_FILES = 20_000;
const DRAFT_AGE_MS = 60 * 60 * 1000;

type JournalFile = {
  /** Relative to the workspace root. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
  readonly backup_id: string | null;
};

const FILES: Shape<{ readonly files: readonly JournalFile[] }> = {
  files: listOf(
    shaped<JournalFile>({
      path: isText,
      before: isTextOrNull,
      after: isText,
      backup_id: isTextOrNull,
    }),
  ),
};

export type PlanJournal = {
  /** Never fails. A later start handles what is left. */
  remove(): Promise<void>;
  /** Leaves the rest to the next start, even if this process is still alive. Never fails. */
  release(): Promise<void>;
};

export type PlanRecovery = {
  readonly policy: PathPolicy;
  /** Restores the file's bytes from before this change. */
  readonly takeBack: (backupId: string) => Promise<void>;
  readonly lockTarget: LockTarget;
  readonly onEvent: EventSink;
};

export class PlanJournals {
  readonly #state: StateDirectory;
  readonly #observer: ProcessObserver;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(state: StateDirectory, observer: ProcessObserver, clock: Pick<Clock, 'now'>) {
    this.#state = state;
    this.#observer = observer;
    this.#clock = clock;
  }

  async write(
    planId: string,
    atomic: boolean,
    writings: readonly WritingRecord[],
  ): Promise<PlanJournal> {
    const directory = join(this.#state.plans, planId);
    await this.#state.ensure(this.#state.plans);
    await mkdir(directory, { mode: 0o700 });
    const files = writings.map((writing): JournalFile & { readonly temp: string } => ({
      path: writing.target ?? '',
      temp: writing.temp,
      before: writing.before,
      after: writing.after,
      backup_id: writing.result.backup_id ?? null,
    }));
    const journal = {
      ...(await this.#observer.newOwner()),
      plan_id: planId,
      root: this.#state.root,
      created_at: new Date(this.#clock.now()).toISOString(),
      atomic,
      files,
    };
    const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
    try {
      await createFile(join(directory, NAME), jsonBytes(journal));
      await syncDirectory(directory);
      await syncDirectory(this.#state.plans);
    } catch (error) {
      await remove().catch(() => undefined);
      throw error;
    }
    const release = (): Promise<void> =>
      replaceFile(join(directory, NAME), jsonBytes({ ...journal, released: true }));
    return {
      remove: () => remove().catch(() => undefined),
      release: () => release().catch(() => undefined),
    };
  }

  /** Runs at every start. */
  async recover(recovery: PlanRecovery): Promise<void> {
    for (const name of (await this.#state.names(this.#state.plans)).filter(isSessionId)) {
      const directory = join(this.#state.plans, name);
      if (!(await this.#state.holds(directory))) continue;
      const fields = await readFields(join(directory, NAME), MAX_JOURNAL_BYTES);
      const owner = parseOwner(fields);
      if (owner === null || !hasShape(fields, FILES) || fields.files.length > MAX_FILES) {
        // It is being written, or its writer died before it was complete and thus before anything changed; or it is
        // none of a plan.
        await removeIfOlder(directory, DRAFT_AGE_MS, this.#clock.now());
        continue;
      }
      if (!this.#state.isAboutHere(fields['root'])) continue;
      const verdict = judgeOwner(owner, await this.#observer.observe(owner));
      if (verdict === 'live') continue;
      if (verdict === 'presumed_dead') {
        const areFree = await areUnlocked(fields.files, recovery);
        // Its owner may have finished before the locks were free.
        if (!areFree || !(await isThere(directory))) continue;
      }
      const settled = fields['atomic'] === false || (await settle(name, fields.files, recovery));
      if (settled) await rm(directory, { recursive: true, force: true });
    }
  }
}

/** A plan holds the locks of its files from before its journal until after it. */
async function areUnlocked(
  files: readonly JournalFile[],
  { policy, lockTarget }: PlanRecovery,
): Promise<boolean> {
  for (const { path } of files) {
    const found = await policy.contain(path).catch(() => null);
    if (found === null) continue;
    const lock = await lockTarget(found.realPath, path).catch(() => null);
    if (lock === null) return false;
    await lock.release().catch(() => undefined);
  }
  return true;
}

/** Returns false if a file could not be restored now. A later start tries again. */
async function settle(
  planId: string,
  files: readonly JournalFile[],
  { policy, takeBack, onEvent }: PlanRecovery,
): Promise<boolean> {
  const found: { readonly file: JournalFile; readonly now: string | null }[] = [];
  const hashOf = hashEachOnce(policy);
  for (const file of files) {
    try {
      found.push({ file, now: await hashOf(file.path) });
    } catch (error) {
      const { code, details } = toDiskError(error, `read ${shown(file.path)}`);
      // Without a system error, it is a place where no file of the plan can be.
      if (details['errno'] !== undefined) {
        onEvent('plan_file_left', { plan_id: planId, path: file.path, code });
        return false;
      }
      found.push({ file, now: null });
    }
  }
  const changed = found.filter(({ file, now }) => now === file.after && now !== file.before);
  if (changed.length === files.length) {
    onEvent('plan_finished', { plan_id: planId, files: files.length });
    return true;
  }
  for (const { file, now } of found) {
    if (now === file.before || now === file.after) continue;
    // Edited since, or incomplete on a file system without links (C5).
    onEvent('plan_file_left', { plan_id: planId, path: file.path, code: 'TARGET_CHANGED' });
  }
  let settled = true;
  let restored = 0;
  for (const { file } of changed.toReversed()) {
    if (file.backup_id === null) continue;
    try {
      await takeBack(file.backup_id);
      restored += 1;
    } catch (error) {
      if (!OrionError.isInstance(error)) throw error;
      onEvent('plan_file_left', { plan_id: planId, path: file.path, code: error.code });
      if (!isFinal(error)) settled = false;
    }
  }
  onEvent('plan_rolled_back', { plan_id: planId, files: restored });
  return settled;
}

/** A journal that came with a folder may name one large file any number of times. */
function hashEachOnce(policy: PathPolicy): (path: string) => Promise<string | null> {
  const hashes = new Map<string, string | null>();
  return async (path) => {
    const { realPath } = await policy.contain(path);
    const hash = hashes.get(realPath) ?? (await hashPath(realPath))?.sha256 ?? null;
    hashes.set(realPath, hash);
    return hash;
  };
}

/** Whether a retry would be useless. */
export function isFinal(error: OrionError): boolean {
  return ['TARGET_CHANGED', 'CHANGE_NOT_FOUND', 'BACKUP_DAMAGED', 'BACKUP_FOREIGN'].includes(
    error.code,
  );
}

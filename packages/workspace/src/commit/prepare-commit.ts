/**
 * Changes one file, or nothing, in two steps: `prepareCommit` does all the preparation, `apply` makes the change.
 *
 * C1. The new bytes are complete and durable under a temporary name in the target's directory before the target
 *     changes. The target itself is never written to (except for C5).
 * C2. The previous bytes are durable in the backups before the target changes. Kept parts of the new file are read from
 *     there, because those bytes are verified and cannot change.
 * C3. The caller records what is about to happen before it calls `apply`.
 * C4. The target is hashed right before the change; anything unexpected stops it. A window remains between that hash
 *     and the rename.
 * C5. A new file is created by `link`, so that a file that has appeared in the meantime is never replaced. If the file
 *     system has no links, the target is created exclusively and a warning says so.
 * C6. A failure leaves target and backups as they were, and no temporary file.
 * C7. If a person was asked, the prepared file is hashed again right before the change, through the handle that created
 *     it: what was approved is what is written. The same window as in C4 remains.
 * C8. All calls use the directory that was opened when the commit was prepared.
 */
import { lstat, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { basename, relative, sep } from 'node:path';
import { OrionError, TextTally } from '@orion/contracts';
import type { CommitRequest, CommitResult, PreparedCommit, WritingRecord } from '@orion/contracts';
import { onDisk } from '../disk/disk-error.ts';
import { closeRead, removeIfThere } from '../disk/files.ts';
import { shown } from '../path-policy/parse-target.ts';
import { octal } from './backup-manifest.ts';
import type { BackupDraft } from './backup-store.ts';
import { approvalStale, notConfirmed, targetChanged } from './commit-errors.ts';
import { besideTarget, openSite, requireUnchanged } from './commit-site.ts';
import type { ChangeRequest, Committer, Site } from './commit-site.ts';
import { hashFile } from './hash-file.ts';
import { putInPlace, removeTarget, TEMPORARY_FILE_LEFT } from './put-in-place.ts';
import { newTemporaryName } from './temporary-notes.ts';
import type { TemporaryNote } from './temporary-notes.ts';
import { writeTemporary } from './write-temporary.ts';
import type { WrittenTemporary } from './write-temporary.ts';

export async function commitFile(
  committer: Committer,
  request: CommitRequest,
): Promise<CommitResult> {
  const prepared = await prepareCommit(committer, request);
  try {
    await request.journal(prepared.writing);
  } catch (error) {
    await prepared.discard();
    throw error;
  }
  return prepared.apply();
}

export async function prepareCommit(
  committer: Committer,
  request: ChangeRequest,
): Promise<PreparedCommit> {
  const site = await openSite(committer, request);
  const name = newTemporaryName();
  const draft = committer.backups.draft(request.changeId);
  const parts: PreparedParts = {
    committer,
    site,
    draft,
    temporary: site.directory.pathOf(name),
    note: await committer.notes.note({
      temporary: besideTarget(committer, site, name),
      backupId: draft.id,
      locked: request.locked ?? site.target.realPath,
    }),
  };
  let written: WrittenTemporary | null = null;
  try {
    let recorded = await recordPrevious(parts);
    written = request.removes === true ? null : await writeNew(parts);
    recorded = recorded && (await sealRecord(parts, written?.sha256 ?? null));
    const result = resultOf(site, written, recorded ? draft : null);
    const writing: WritingRecord = {
      temp: besideTarget(committer, site, name),
      target: site.target.path,
      before: request.expected.sha256,
      after: result.sha256,
      result,
    };
    return new Prepared({ ...parts, written }, writing, result);
  } catch (error) {
    await takeBack({ ...parts, written });
    throw error;
  } finally {
    if (site.old !== null) await closeRead(site.old);
  }
}

type PreparedParts = {
  readonly committer: Committer;
  readonly site: Site;
  readonly draft: BackupDraft;
  readonly temporary: string;
  readonly note: TemporaryNote;
};

type ReadyParts = PreparedParts & { readonly written: WrittenTemporary | null };

class Prepared implements PreparedCommit {
  readonly writing: WritingRecord;
  readonly result: CommitResult;
  readonly #parts: ReadyParts;
  #over = false;

  constructor(parts: ReadyParts, writing: WritingRecord, result: CommitResult) {
    this.#parts = parts;
    this.writing = writing;
    this.result = result;
  }

  async apply(): Promise<CommitResult> {
    this.#end();
    const { site, temporary, committer, note, written } = this.#parts;
    const { path } = site.target;
    const file = written?.handle ?? null;
    let warnings: readonly string[];
    try {
      await requireUnchanged(site);
      if (file !== null) await this.#requireApproved(file);
      warnings = await onDisk(`write ${shown(path)}`, () =>
        site.request.removes === true ? removeTarget(site) : putInPlace(site, temporary, file),
      );
    } catch (error) {
      await takeBack(this.#parts);
      throw error;
    }
    try {
      await site.directory.sync();
    } catch (error) {
      throw notConfirmed(path, error);
    } finally {
      if (file !== null) await closeRead(file);
      await (warnings.includes(TEMPORARY_FILE_LEFT) ? note.leave() : note.remove());
      await site.directory.close().catch(() => undefined);
    }
    await committer.backups.pruneWhenFull().catch(() => undefined);
    return { ...this.result, warnings: [...this.result.warnings, ...warnings] };
  }

  async discard(): Promise<void> {
    this.#end();
    await takeBack(this.#parts);
  }

  async #requireApproved(file: FileHandle): Promise<void> {
    const { site, temporary, written } = this.#parts;
    const { path } = site.target;
    const isSame = await onDisk(`read what lies ready for ${shown(path)}`, async () => {
      const { sha256 } = await hashFile(file, written?.whole.bytes ?? 0);
      return sha256 === this.result.sha256 && (await isNamed(temporary, file));
    });
    if (!isSame) throw approvalStale(path);
  }

  #end(): void {
    if (this.#over) throw new Error('this commit was applied or discarded before');
    this.#over = true;
  }
}

/** Whether this name still refers to this file. */
async function isNamed(path: string, file: FileHandle): Promise<boolean> {
  const options = { bigint: true } as const;
  const [named, opened] = await Promise.all([
    lstat(path, options).catch(() => null),
    file.stat(options),
  ]);
  return named?.dev === opened.dev && named.ino === opened.ino;
}

/** C6. Discards the backup first: see T3 of the notes. */
async function takeBack({ site, temporary, draft, note, written }: ReadyParts): Promise<void> {
  if (written?.handle) await closeRead(written.handle);
  try {
    await draft.discard();
    await removeIfThere(temporary);
    await note.remove();
  } catch {
    await note.leave();
  }
  await site.directory.close().catch(() => undefined);
}

/** Without previous bytes the record only makes an undo possible: a file can be made without it. */
async function unlessOptional(
  { site, draft }: PreparedParts,
  step: () => Promise<void>,
): Promise<boolean> {
  try {
    await onDisk(`keep the previous bytes of ${shown(site.target.path)}`, step);
    return true;
  } catch (error) {
    if (site.request.expected.sha256 !== null || !OrionError.isInstance(error)) throw error;
    await draft.discard().catch(() => undefined);
    return false;
  }
}

async function recordPrevious(parts: PreparedParts): Promise<boolean> {
  const { site, draft } = parts;
  const { sha256 } = site.request.expected;
  return unlessOptional(parts, async () => {
    if (sha256 === null || site.old === null) return draft.begin();
    const outcome = await draft.keep(site.old, sha256);
    if (outcome === 'changed') throw targetChanged(site.target.path);
  });
}

async function sealRecord(parts: PreparedParts, after: string | null): Promise<boolean> {
  const { committer, site, draft, temporary } = parts;
  const { request, target } = site;
  const { changeId, undoes, expected } = request;
  return unlessOptional(parts, () =>
    draft.seal({
      path: relative(committer.root, target.realPath).split(sep).join('/'),
      operation: undoes === undefined ? request.operation : 'undo',
      ...(changeId === undefined ? {} : { change_id: changeId }),
      ...(undoes === undefined ? {} : { undoes }),
      before:
        expected.sha256 === null
          ? null
          : { sha256: expected.sha256, bytes: expected.bytes, mode: octal(expected.mode) },
      after: after === null ? null : { sha256: after },
      ...(after === null ? {} : { temporary: besideTarget(committer, site, basename(temporary)) }),
    }),
  );
}

async function writeNew({ site, temporary, draft }: PreparedParts): Promise<WrittenTemporary> {
  const { contentPath } = draft;
  if (contentPath === null) return writeTemporary(site, temporary, null);
  const action = `read the previous bytes of ${shown(site.target.path)}`;
  const previous = await onDisk(action, () => open(contentPath, 'r'));
  try {
    return await writeTemporary(site, temporary, previous);
  } finally {
    await closeRead(previous);
  }
}

function resultOf(
  { request, target }: Site,
  written: WrittenTemporary | null,
  draft: BackupDraft | null,
): CommitResult {
  const whole = written?.whole ?? new TextTally();
  const warnings: string[] = [];
  if (request.operation === 'overwrite' && !request.expected.exists) {
    warnings.push('created_missing');
  }
  if (draft === null) warnings.push('no_undo_record');
  const backupPath = draft?.sealedContentPath ?? null;
  return {
    path: target.path,
    bytes: written?.added.bytes ?? 0,
    lines: written?.added.lines() ?? 0,
    sha256: written?.sha256 ?? '',
    eol: whole.eol(),
    bom: whole.bom(),
    mode: octal(written?.mode ?? 0),
    ...(draft === null ? {} : { backup_id: draft.id }),
    ...(backupPath === null ? {} : { backup_path: backupPath }),
    warnings,
    not_kept: written?.notKept ?? [],
  };
}

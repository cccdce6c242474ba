/**
 * Undoes a change. Each file goes through the same commit as any other change.
 *
 * U1. Every file is locked, checked and prepared before the first one changes.
 * U2. The current bytes are kept before they are replaced, so an undo can be undone.
 * U3. A file that already has its previous bytes is done, so an interrupted undo can be repeated.
 */
import { randomUUID } from 'node:crypto';
import { OrionError } from '@orion/contracts';
import type {
  CommitResult,
  PreparedCommit,
  RecordedChange,
  TargetSnapshot,
  UndoneFile,
  UndoReport,
  UndoRequest,
} from '@orion/contracts';
import type { ChangeRequest, Committer } from '../commit/commit-site.ts';
import { prepareCommit } from '../commit/prepare-commit.ts';
import { onDisk } from '../disk/disk-error.ts';
import { streamFile } from '../disk/files.ts';
import type { TargetLock } from '../ownership/target-locks.ts';
import { shown } from '../path-policy/parse-target.ts';
import { asFarAs } from '../session-dir/session-key.ts';
import { chooseChange, latestChange, stepsOf } from './history.ts';
import type { FileStep } from './history.ts';
import { madeChanges } from './made-changes.ts';

/** A file with its current state. */
type Checked = { readonly step: FileStep; readonly found: TargetSnapshot };
type Ready = Checked & { readonly prepared: PreparedCommit | null };

export async function undoChange(committer: Committer, request: UndoRequest): Promise<UndoReport> {
  const change = await findChange(committer, request);
  const undoId = randomUUID();
  const locks: TargetLock[] = [];
  try {
    const checked: Checked[] = [];
    for (const step of stepsOf(change)) {
      checked.push({ step, found: await lookAt(committer, step, locks) });
    }
    if (request.force !== true) requireSameAsAfter(change, checked);
    const ready = await prepareAll(committer, checked, undoId);
    const files = await applyAll(ready);
    return {
      change_id: change.change_id,
      ...(ready.some(({ prepared }) => prepared !== null) ? { undo_id: undoId } : {}),
      files,
    };
  } finally {
    for (const lock of locks) await lock.release().catch(() => undefined);
  }
}

async function findChange(committer: Committer, request: UndoRequest): Promise<RecordedChange> {
  const changes = madeChanges(committer);
  const change =
    request.id === undefined
      ? await latestChange(changes, (step) => isAsBefore(committer, step))
      : await chooseChange(changes, request.id);
  if (change === null) {
    throw new OrionError({
      code: 'CHANGE_NOT_FOUND',
      message:
        request.id === undefined
          ? 'There is no change to undo.'
          : `There is no change ${shown(request.id)} to undo.`,
    });
  }
  if (change.foreign && request.force !== true) {
    throw backupForeign(
      change.change_id,
      change.files.map((file) => file.target_file),
      await committer.backups.keyProblem(),
    );
  }
  return change;
}

/** Reads no file whose size tells. */
async function isAsBefore({ policy }: Committer, { path, before }: FileStep): Promise<boolean> {
  const { stat } = await policy.contain(path);
  if (before === null || stat === null) return before === null && stat === null;
  return stat.size === before.bytes && (await policy.hashOf(path)) === before.sha256;
}

/** `keyProblem`: why even this user's own backups count as foreign. */
export function backupForeign(
  changeId: string,
  files: readonly string[],
  keyProblem: string | null,
): OrionError {
  return new OrionError({
    code: 'BACKUP_FOREIGN',
    message: `The change ${shown(changeId)} was not made by you here${asFarAs(keyProblem)}; nothing was changed.`,
    details: { files },
  });
}

async function lookAt(
  { policy, lockTarget }: Committer,
  step: FileStep,
  locks: TargetLock[],
): Promise<TargetSnapshot> {
  const target = await policy.containTarget(step.path, 'overwrite');
  locks.push(
    await onDisk(`lock ${shown(step.path)}`, () => lockTarget(target.realPath, target.path)),
  );
  // Taken under the lock, so it cannot show the middle of another change.
  return policy.snapshot(step.path, 'overwrite');
}

function requireSameAsAfter(change: RecordedChange, checked: readonly Checked[]): void {
  const edited = checked.filter((each) => !isDone(each) && !isAsLeft(each));
  const [first] = edited;
  if (first === undefined) return;
  const { path } = first.step;
  const others = edited.length - 1;
  const were = others === 0 ? 'was' : `and ${others} ${others === 1 ? 'other' : 'others'} were`;
  throw new OrionError({
    code: 'TARGET_CHANGED',
    message: `${shown(path)} ${were} edited after the change that is to be undone; nothing was undone.`,
    hint: 'Forced, the undo restores the previous bytes anyway and keeps the present ones as a backup.',
    details: {
      change_id: change.change_id,
      target_file: path,
      target_files: edited.map(({ step }) => step.path),
    },
  });
}

function isAsLeft({ step, found }: Checked): boolean {
  return found.sha256 === (step.after?.sha256 ?? null);
}

function isDone({ step, found }: Checked): boolean {
  return found.sha256 === (step.before?.sha256 ?? null);
}

async function prepareAll(
  committer: Committer,
  checked: readonly Checked[],
  undoId: string,
): Promise<readonly Ready[]> {
  const ready: Ready[] = [];
  try {
    for (const each of checked) {
      ready.push({ ...each, prepared: await prepare(committer, each, undoId) });
    }
    return ready;
  } catch (error) {
    for (const { prepared } of ready) await prepared?.discard();
    throw error;
  }
}

/** Null if there is nothing to do. */
async function prepare(
  committer: Committer,
  checked: Checked,
  undoId: string,
): Promise<PreparedCommit | null> {
  const { step, found } = checked;
  if (isDone(checked)) return null;
  const request: ChangeRequest = {
    target: step.path,
    operation: 'overwrite',
    parts: [],
    eol: 'as-is',
    expected: found,
    changeId: undoId,
    undoes: step.backups,
  };
  const { before } = step;
  if (before === null) return prepareCommit(committer, { ...request, removes: true });
  const prepared = await prepareCommit(committer, {
    ...request,
    parts: [{ kind: 'new', source: () => backupBytes(committer, step) }],
    mode: Number.parseInt(before.mode, 8),
  });
  if (prepared.result.sha256 === before.sha256) return prepared;
  await prepared.discard();
  throw backupDamaged(step);
}

async function* backupBytes(
  { backups }: Committer,
  step: FileStep,
): AsyncGenerator<Uint8Array, void, undefined> {
  const path = await backups.contentPath(step.contentOf);
  yield* streamFile(path, `read the kept bytes of ${shown(step.path)}`, backupDamaged(step));
}

function backupDamaged(step: FileStep): OrionError {
  return new OrionError({
    code: 'BACKUP_DAMAGED',
    message: `The kept bytes of ${shown(step.path)} are gone or not what they were.`,
    details: { target_file: step.path, backup_id: step.contentOf },
  });
}

async function applyAll(ready: readonly Ready[]): Promise<readonly UndoneFile[]> {
  const files: UndoneFile[] = [];
  for (const [index, each] of ready.entries()) {
    try {
      const result = each.prepared === null ? null : await each.prepared.apply();
      files.push(undoneFile(each, result));
    } catch (error) {
      for (const later of ready.slice(index + 1)) await later.prepared?.discard();
      throw withProgress(error, files);
    }
  }
  return files;
}

function undoneFile({ step, found }: Checked, result: CommitResult | null): UndoneFile {
  const unchanged = { target_file: step.path, sha256: found.sha256, bytes: found.bytes };
  if (result === null) return { ...unchanged, outcome: 'unchanged', warnings: [], not_kept: [] };
  return {
    target_file: step.path,
    outcome: step.before === null ? 'removed' : 'restored',
    sha256: step.before === null ? null : result.sha256,
    bytes: result.bytes,
    ...(result.backup_id === undefined ? {} : { backup_id: result.backup_id }),
    warnings: result.warnings.filter((warning) => warning !== 'created_missing'),
    not_kept: result.not_kept,
  };
}

function withProgress(error: unknown, files: readonly UndoneFile[]): unknown {
  if (files.length === 0 || !OrionError.isInstance(error)) return error;
  return new OrionError({
    code: error.code,
    message: error.message,
    hint: `${error.hint} ${files.length} of the files are undone already; the same undo goes on with the rest.`,
    details: { ...error.details, undone: files.map((file) => file.target_file) },
    cause: error,
  });
}

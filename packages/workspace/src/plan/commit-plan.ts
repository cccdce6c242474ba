/**
 * Changes several files as one.
 *
 * Q1. Every file is locked and prepared before the first one changes. Copies beside files are changes like the others,
 *     and precede the file that they copy.
 * Q2. With several changes, a journal is durable before the first.
 * Q3. When a change fails, the previous ones are undone in reverse order, unless the plan says otherwise. The plan
 *     keeps its locks until then.
 * Q4. What cannot be undone now stays in the journal, and its outcome says that a start restores it.
 */
import { basename } from 'node:path';
import { OrionError } from '@orion/contracts';
import type {
  CommitResult,
  PlanCommitOutcome,
  PlanCommitRequest,
  PreparedCommit,
} from '@orion/contracts';
import type { Committer } from '../commit/commit-site.ts';
import { prepareCommit } from '../commit/prepare-commit.ts';
import { readTarget } from '../commit/read-target.ts';
import { onDisk } from '../disk/disk-error.ts';
import type { LockTarget, TargetLock } from '../ownership/target-locks.ts';
import { shown } from '../path-policy/parse-target.ts';
import { undoChange } from '../undo/undo-change.ts';
import { isFinal } from './plan-journal.ts';
import type { PlanJournal, PlanJournals } from './plan-journal.ts';

type Change = PlanCommitRequest['changes'][number];
/** A change of the plan and the copy created before it. */
type Ready = { readonly change: PreparedCommit; readonly sibling: PreparedCommit | null };

export async function commitPlan(
  committer: Committer,
  journals: PlanJournals,
  request: PlanCommitRequest,
): Promise<readonly PlanCommitOutcome[]> {
  const held = new Map<string, TargetLock>();
  // During its own undo, the plan keeps the locks that it already holds.
  const lockTarget: LockTarget = async (realPath, path) =>
    held.has(realPath) ? { release: async () => undefined } : committer.lockTarget(realPath, path);
  const job: PlanJob = { committer: { ...committer, lockTarget }, journals, request };
  const ready: Ready[] = [];
  try {
    for (const change of request.changes) {
      const { realPath, path } = change.expected;
      try {
        const lock = await onDisk(`lock ${shown(path)}`, () =>
          committer.lockTarget(realPath, path),
        );
        held.set(realPath, lock);
        ready.push(await prepareChange(committer, request, change));
      } catch (error) {
        await discardAll(ready);
        return failedAt(request, ready.length, asOrionError(error));
      }
    }
    try {
      await request.approve?.(ready.map(({ change }) => change.result));
    } catch (error) {
      await discardAll(ready);
      throw error;
    }
    return await applyAll(job, ready);
  } finally {
    for (const lock of held.values()) await lock.release().catch(() => undefined);
  }
}

async function prepareChange(
  committer: Committer,
  { planId, siblingBackups }: PlanCommitRequest,
  change: Change,
): Promise<Ready> {
  const prepared = await prepareCommit(committer, { ...change, changeId: planId });
  if (!siblingBackups || !change.expected.exists) return { change: prepared, sibling: null };
  try {
    return { change: prepared, sibling: await prepareSibling(committer, planId, change) };
  } catch (error) {
    await prepared.discard();
    throw error;
  }
}

/** More copies than anyone creates by hand. */
const MAX_SIBLINGS = 10_000;

async function prepareSibling(
  committer: Committer,
  planId: string,
  { expected, reviewed }: Change,
): Promise<PreparedCommit> {
  for (let number = 0; number < MAX_SIBLINGS; number += 1) {
    const target = `${expected.path}.bak${number === 0 ? '' : `.${number}`}`;
    const found = await committer.policy.contain(target);
    if (found.stat !== null) continue;
    return prepareCommit(committer, {
      target,
      operation: 'create',
      parts: [{ kind: 'new', source: () => readTarget(committer.policy, expected) }],
      eol: 'as-is',
      expected: await committer.policy.snapshot(target, 'create'),
      changeId: planId,
      locked: expected.realPath,
      ...(reviewed === undefined ? {} : { reviewed }),
      mode: expected.mode,
    });
  }
  throw new OrionError({
    code: 'FILE_EXISTS',
    message: `All names for a copy of ${shown(basename(expected.path))} are taken.`,
  });
}

type PlanJob = {
  readonly committer: Committer;
  readonly journals: PlanJournals;
  readonly request: PlanCommitRequest;
};

async function applyAll(
  job: PlanJob,
  ready: readonly Ready[],
): Promise<readonly PlanCommitOutcome[]> {
  const { request, journals } = job;
  const commits = ready.flatMap(({ change, sibling }) =>
    sibling === null ? [change] : [sibling, change],
  );
  let journal: PlanJournal | null = null;
  if (commits.length > 1) {
    try {
      journal = await onDisk('write the journal of the plan', () =>
        journals.write(
          request.planId,
          request.atomic,
          commits.map(({ writing }) => writing),
        ),
      );
    } catch (error) {
      await discardAll(ready);
      return failedAt(request, 0, asOrionError(error));
    }
  }
  const made: CommitResult[] = [];
  const outcomes: PlanCommitOutcome[] = [];
  for (const [index, { change, sibling }] of ready.entries()) {
    try {
      if (sibling !== null) await applyOne(sibling, made);
      const result = await applyOne(change, made);
      outcomes.push({
        kind: 'done',
        result,
        ...(sibling === null ? {} : { sibling: sibling.result.path }),
      });
    } catch (error) {
      // If the copy failed, the file itself was not touched.
      await change.discard().catch(() => undefined);
      await discardAll(ready.slice(index + 1));
      const failed: PlanCommitOutcome = { kind: 'failed', error: asOrionError(error) };
      const { before, settled } = request.atomic
        ? await takeBack(job, outcomes, made, journal !== null)
        : { before: outcomes, settled: true };
      await (settled ? journal?.remove() : journal?.release());
      const after = ready.slice(index + 1).map((): PlanCommitOutcome => ({ kind: 'skipped' }));
      return [...before, failed, ...after];
    }
  }
  await journal?.remove();
  return outcomes;
}

async function applyOne(prepared: PreparedCommit, made: CommitResult[]): Promise<CommitResult> {
  try {
    const result = await prepared.apply();
    made.push(result);
    return result;
  } catch (error) {
    // The disk did not confirm the change, but the file has its new bytes.
    if (OrionError.isInstance(error) && error.details['changed'] === true)
      made.push(prepared.result);
    throw error;
  }
}

/** `settled`: a later start has nothing left to do. */
async function takeBack(
  { committer }: PlanJob,
  outcomes: readonly PlanCommitOutcome[],
  made: readonly CommitResult[],
  hasJournal: boolean,
): Promise<{ readonly before: readonly PlanCommitOutcome[]; readonly settled: boolean }> {
  const errors = new Map<string, OrionError>();
  let settled = true;
  for (const { path, backup_id: backupId } of made.toReversed()) {
    try {
      if (backupId === undefined) throw noRecord(path);
      await undoChange(committer, { id: backupId });
    } catch (error) {
      const cause = asOrionError(error);
      errors.set(path, cause);
      if (!isFinal(cause)) settled = false;
    }
  }
  const before = outcomes.map((outcome): PlanCommitOutcome => {
    if (outcome.kind !== 'done') return outcome;
    const error = errors.get(outcome.result.path);
    if (error === undefined) return { kind: 'restored' };
    const willBeRestored = hasJournal && !isFinal(error);
    return { kind: 'left', result: outcome.result, error, willBeRestored };
  });
  return { before, settled };
}

async function discardAll(ready: readonly Ready[]): Promise<void> {
  for (const { change, sibling } of ready) {
    await sibling?.discard();
    await change.discard();
  }
}

function failedAt(
  { changes }: PlanCommitRequest,
  place: number,
  error: OrionError,
): readonly PlanCommitOutcome[] {
  return changes.map((_change, index) =>
    index === place ? { kind: 'failed', error } : { kind: 'skipped' },
  );
}

function noRecord(path: string): OrionError {
  return new OrionError({
    code: 'CHANGE_NOT_FOUND',
    message: `No record of ${shown(path)} was kept, so it could not be restored.`,
  });
}

/** A defect ends the plan like any other failure, and previous changes are undone. */
function asOrionError(error: unknown): OrionError {
  if (OrionError.isInstance(error)) return error;
  return new OrionError({
    code: 'EXECUTION_FAILED',
    message: `The change could not be made: ${error instanceof Error ? error.message : String(error)}`,
    cause: error,
  });
}

/** A plan's outcome in words and as data. */
import type {
  CommitResult,
  OrionError,
  PlanChange,
  PlanOperationResult,
  PlanOperationStatus,
  PlanOperationType,
  PlanReceipt,
  PlanReport,
  WriteOperation,
} from '@orion/contracts';

import { ENCODING_CHANGED, JOINED, MARK_LEFT_OUT } from './fitting-text.ts';

/** What is known of one operation when the plan has ended. */
export type OperationOutcome = {
  readonly type: string;
  readonly target_file: string;
  readonly status: PlanOperationStatus;
  readonly error: OrionError | null;
  readonly bytes: number;
  readonly lines: number;
  readonly occurrences?: number;
  readonly sibling?: string;
  readonly omissions?: readonly number[];
  readonly warnings: readonly string[];
};

export type ChangeOutcome = Pick<PlanChange, 'target_file' | 'operations' | 'status' | 'before'> & {
  readonly operation: WriteOperation;
  readonly commit: CommitResult | null;
  readonly diff?: string;
  readonly diffCut?: boolean;
  readonly crlf?: boolean;
  readonly willBeRestored?: boolean;
};

/** The warning of an operation that failed with the others and could not be taken back for now. */
export const RESTORED_AT_NEXT_START = 'restored_at_next_start';

export type ReportFacts = {
  readonly planId: string;
  readonly intent: string;
  readonly status: PlanReport['status'];
  readonly operations: readonly OperationOutcome[];
  readonly changes: readonly ChangeOutcome[];
  readonly warnings: readonly string[];
};

export function reportOf(facts: ReportFacts): PlanReport {
  return {
    plan_id: facts.planId,
    intent: facts.intent,
    status: facts.status,
    text: textOf(facts),
    results: facts.operations.map(resultOf),
    changes: facts.changes.map(changeOf),
    receipts: facts.changes.flatMap((change) => receiptOf(change, facts)),
    warnings: facts.warnings,
  };
}

function resultOf(outcome: OperationOutcome, index: number): PlanOperationResult {
  const {
    type,
    target_file,
    status,
    error,
    bytes,
    lines,
    occurrences,
    sibling,
    omissions,
    warnings,
  } = outcome;
  return {
    operation_index: index,
    type,
    target_file,
    status,
    error: error?.toInfo() ?? null,
    ...(error === null || Object.keys(error.details).length === 0
      ? {}
      : { error_details: error.details }),
    bytes,
    lines,
    ...(occurrences === undefined ? {} : { occurrences }),
    ...(sibling === undefined ? {} : { backup_path: sibling }),
    ...(omissions === undefined ? {} : { omission_suspected: omissions }),
    warnings,
  };
}

function changeOf(outcome: ChangeOutcome): PlanChange {
  const { commit, diff, diffCut, crlf, ...more } = outcome;
  const { willBeRestored: _willBeRestored, operation: _operation, ...change } = more;
  return {
    ...change,
    after: commit?.sha256 ?? null,
    ...(commit?.backup_id === undefined ? {} : { backup_id: commit.backup_id }),
    not_kept: commit?.not_kept ?? [],
    ...(diff === undefined ? {} : { diff }),
    ...(diffCut === undefined ? {} : { diff_cut: diffCut }),
    ...(crlf === undefined ? {} : { crlf }),
  };
}

function receiptOf(
  { commit, operation, operations: indexes }: ChangeOutcome,
  { planId, operations }: ReportFacts,
): readonly PlanReceipt[] {
  if (commit === null) return [];
  const { path, warnings, ...written } = commit;
  const own = indexes.flatMap((index) => operations[index] ?? []);
  return [
    {
      plan_id: planId,
      target_file: path,
      operation,
      ...written,
      // The commit sees one text where the plan has several.
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      lines: own.reduce((sum, { lines }) => sum + lines, 0),
      warnings: [...new Set([...own.flatMap((each) => each.warnings), ...warnings])],
    },
  ];
}

function textOf({ status, operations, changes }: ReportFacts): string {
  const told = new Set<string>();
  const lines = operations.map((outcome, index) => sentences(outcome, index, told));
  if (status !== 'failed') return lines.join('\n');
  const left = changes.filter((change) => change.status === 'done');
  const pending = left.filter((change) => change.willBeRestored === true).length;
  const kept = left.length - pending;
  const restored = changes.some((change) => change.status === 'restored');
  if (kept > 0) {
    lines.push(
      `The plan failed; ${plural(kept, 'file')} changed before that ${kept === 1 ? 'stays' : 'stay'} changed.`,
    );
  }
  if (pending > 0) {
    lines.push(
      `${kept > 0 ? '' : 'The plan failed; '}${plural(pending, 'file')} could not be restored now; the next start of orion does it.`,
    );
  }
  if (left.length === 0) {
    lines.push(
      restored
        ? 'The plan failed; every file that had changed was restored.'
        : 'The plan failed; nothing was changed.',
    );
  }
  return lines.join('\n');
}

function sentences(outcome: OperationOutcome, index: number, told: Set<string>): string {
  const { status, target_file: target, error, sibling, omissions, warnings } = outcome;
  switch (status) {
    case 'failed':
      return `Operation ${index} (${outcome.type || 'of no known type'}) failed: ${error?.message ?? ''} (${error?.code ?? ''})`;
    case 'skipped':
      return `Operation ${index} (${outcome.type}) on \`${target}\` was not run.`;
    case 'restored':
      return `Operation ${index} (${outcome.type}) on \`${target}\` was taken back.`;
    case 'planned':
    case 'done': {
      const parts = [whatHappened(outcome, status === 'planned')];
      if (sibling !== undefined && !told.has(sibling))
        parts.push(`Backup saved to \`${sibling}\`.`);
      if (sibling !== undefined) told.add(sibling);
      if (warnings.includes(JOINED)) {
        parts.push(
          'The file did not end with a line ending, so its last line goes on with the new text.',
        );
      }
      if (warnings.includes(MARK_LEFT_OUT)) {
        parts.push('The byte order mark at the start of its text was left out.');
      }
      if (warnings.includes(ENCODING_CHANGED)) {
        parts.push('The file was not UTF-8 before; it is now.');
      }
      if (omissions !== undefined) parts.push(leftOut(omissions));
      if (warnings.includes('created_missing')) parts.push('The file did not exist.');
      return parts.join(' ');
    }
    default:
      return status satisfies never;
  }
}

function leftOut(lines: readonly number[]): string {
  const [named, look] = lines.length === 1 ? ['Line', 'looks'] : ['Lines', 'look'];
  return `${named} ${lines.join(', ')} of the new text ${look} as if something was left out.`;
}

function whatHappened(outcome: OperationOutcome, planned: boolean): string {
  const lines = plural(outcome.lines, 'line');
  const file = `\`${outcome.target_file}\``;
  const [done, would, rest] = phrase(outcome, lines, file);
  return planned ? `Would ${would} ${rest}.` : `${done} ${rest}.`;
}

function phrase(
  outcome: OperationOutcome,
  lines: string,
  file: string,
): readonly [done: string, would: string, rest: string] {
  switch (outcome.type as PlanOperationType) {
    case 'create':
      return ['Created', 'create', `${file} with ${lines}`];
    case 'append':
      return ['Appended', 'append', `${lines} to ${file}`];
    case 'overwrite':
      return ['Overwrote', 'overwrite', `${file} with ${lines}`];
    case 'insert':
      return ['Inserted', 'insert', `${lines} into ${file}`];
    case 'replace':
      return ['Replaced', 'replace', `a block of ${file} with ${lines}`];
    case 'replace_all':
      return [
        'Replaced',
        'replace',
        `${plural(outcome.occurrences ?? 0, 'occurrence')} in ${file}`,
      ];
  }
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

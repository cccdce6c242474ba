/** The outcome of a plan, in words and as data. */
import type {
  CommitResult,
  PlanChange,
  PlanCommitOutcome,
  PlanOperationResult,
  PlanOperationType,
  PlanReceipt,
  PlanReport,
} from '@orion/contracts';

import { ENCODING_CHANGED, JOINED, MARK_LEFT_OUT } from './fitting-text.ts';
import type { PlannedChange, Verdict } from './plan-changes.ts';

/** The outcome of one file of a plan; of a dry run, the planned change. */
export type FileOutcome = {
  readonly change: PlannedChange;
  readonly outcome: PlanCommitOutcome | PlannedOutcome;
};

type PlannedOutcome = {
  readonly kind: 'planned';
  readonly diff: string;
  /** Whether the diff was truncated. */
  readonly cut: boolean;
};

/** The warning of an operation of a failed plan that could not be undone yet. */
export const RESTORED_AT_NEXT_START = 'restored_at_next_start';

export type ReportFacts = {
  readonly planId: string;
  readonly intent: string;
  readonly status: PlanReport['status'];
  /** One for each operation. */
  readonly verdicts: readonly Verdict[];
  /** Empty if an operation was refused. */
  readonly files: readonly FileOutcome[];
  /** Lines that look as if something was left out, by the index of their operation. */
  readonly omissions: ReadonlyMap<number, readonly number[]>;
  readonly warnings: readonly string[];
};

export function reportOf(facts: ReportFacts): PlanReport {
  const { planId, intent, status, files, warnings } = facts;
  const results = resultsOf(facts);
  return {
    plan_id: planId,
    intent,
    status,
    text: textOf(status, results, files),
    results,
    changes: files.map(changeOf),
    receipts: files.flatMap((file) => receiptOf(file, planId, results)),
    warnings,
  };
}

function resultsOf({ verdicts, files, omissions }: ReportFacts): readonly PlanOperationResult[] {
  const outcomes = new Map(
    files.flatMap(({ change, outcome }) =>
      change.operations.map((index) => [index, outcome] as const),
    ),
  );
  return verdicts.map((verdict, index) =>
    resultOf(verdict, index, outcomes.get(index), omissions.get(index)),
  );
}

function resultOf(
  verdict: Verdict,
  index: number,
  outcome: FileOutcome['outcome'] = { kind: 'skipped' },
  omissions?: readonly number[],
): PlanOperationResult {
  const ended = verdict.kind === 'refused' ? ({ ...verdict, kind: 'failed' } as const) : outcome;
  const status = statusOf(ended);
  const error = 'error' in ended ? ended.error : null;
  const isInFile = status === 'planned' || status === 'done';
  const edit = verdict.kind === 'planned' && isInFile ? verdict.edit : null;
  const suspected = isInFile ? omissions : undefined;
  const warnings = edit?.warnings ?? [];
  return {
    operation_index: index,
    type: verdict.type,
    target_file: verdict.path,
    status,
    error: error?.toInfo() ?? null,
    ...(error === null || Object.keys(error.details).length === 0
      ? {}
      : { error_details: error.details }),
    bytes: edit?.bytes ?? 0,
    lines: edit?.lines ?? 0,
    ...(edit?.occurrences === undefined ? {} : { occurrences: edit.occurrences }),
    ...(ended.kind === 'done' && ended.sibling !== undefined ? { backup_path: ended.sibling } : {}),
    ...(suspected === undefined ? {} : { omission_suspected: suspected }),
    warnings: willBeRestored(ended)
      ? [RESTORED_AT_NEXT_START]
      : [...warnings, ...(suspected === undefined ? [] : [OMISSION_SUSPECTED])],
  };
}

/** A change that could not be undone is in the file. */
function statusOf({ kind }: FileOutcome['outcome']): PlanChange['status'] {
  return kind === 'left' ? 'done' : kind;
}

function willBeRestored(outcome: FileOutcome['outcome']): boolean {
  return outcome.kind === 'left' && outcome.willBeRestored;
}

function commitOf(outcome: FileOutcome['outcome']): CommitResult | null {
  return 'result' in outcome ? outcome.result : null;
}

function changeOf({ change, outcome }: FileOutcome): PlanChange {
  const { expected, operations, crlf } = change;
  const commit = commitOf(outcome);
  return {
    target_file: expected.path,
    operations,
    status: statusOf(outcome),
    before: expected.sha256,
    after: commit?.sha256 ?? null,
    ...(commit?.backup_id === undefined ? {} : { backup_id: commit.backup_id }),
    not_kept: commit?.not_kept ?? [],
    ...(outcome.kind === 'planned' ? { diff: outcome.diff, diff_cut: outcome.cut, crlf } : {}),
  };
}

function receiptOf(
  { change, outcome }: FileOutcome,
  planId: string,
  results: readonly PlanOperationResult[],
): readonly PlanReceipt[] {
  const commit = commitOf(outcome);
  if (commit === null) return [];
  const { path, warnings, ...written } = commit;
  const own = change.operations.flatMap((index) => results[index] ?? []);
  return [
    {
      plan_id: planId,
      target_file: path,
      operation: change.operation,
      ...written,
      // The commit counts one text; the plan may have several.
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      lines: own.reduce((sum, { lines }) => sum + lines, 0),
      warnings: [...new Set([...own.flatMap((each) => each.warnings), ...warnings])],
    },
  ];
}

function textOf(
  status: PlanReport['status'],
  results: readonly PlanOperationResult[],
  files: readonly FileOutcome[],
): string {
  const named = new Set<string>();
  const lines = results.map((result) => sentences(result, named));
  if (status !== 'failed') return lines.join('\n');
  const left = files.filter(({ outcome }) => statusOf(outcome) === 'done');
  const pending = left.filter(({ outcome }) => willBeRestored(outcome)).length;
  const kept = left.length - pending;
  const restored = files.some(({ outcome }) => outcome.kind === 'restored');
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

function sentences(result: PlanOperationResult, named: Set<string>): string {
  const { operation_index: index, status, error, type, target_file: target } = result;
  const { backup_path: sibling, warnings } = result;
  switch (status) {
    case 'failed':
      return `Operation ${index} (${type || 'of no known type'}) failed: ${error?.message ?? ''} (${error?.code ?? ''})`;
    case 'skipped':
      return `Operation ${index} (${type}) on \`${target}\` was not run.`;
    case 'restored':
      return `Operation ${index} (${type}) on \`${target}\` was taken back.`;
    case 'planned':
    case 'done': {
      const parts = [whatHappened(result)];
      if (sibling !== undefined && !named.has(sibling))
        parts.push(`Backup saved to \`${sibling}\`.`);
      if (sibling !== undefined) named.add(sibling);
      for (const [warning, sentence] of NOTES) {
        if (warnings.includes(warning)) parts.push(sentence(result));
      }
      return parts.join(' ');
    }
    default:
      return status satisfies never;
  }
}

const OMISSION_SUSPECTED = 'omission_suspected';

/** The sentences for the warnings of an operation, in this order. */
const NOTES: readonly (readonly [
  warning: string,
  sentence: (result: PlanOperationResult) => string,
])[] = [
  [
    JOINED,
    () => 'The file did not end with a line ending, so its last line goes on with the new text.',
  ],
  [MARK_LEFT_OUT, () => 'The byte order mark at the start of its text was left out.'],
  [ENCODING_CHANGED, () => 'The file was not UTF-8 before; it is now.'],
  [OMISSION_SUSPECTED, ({ omission_suspected: lines = [] }) => leftOut(lines)],
  ['created_missing', () => 'The file did not exist.'],
];

function leftOut(lines: readonly number[]): string {
  const [named, look] = lines.length === 1 ? ['Line', 'looks'] : ['Lines', 'look'];
  return `${named} ${lines.join(', ')} of the new text ${look} as if something was left out.`;
}

function whatHappened(result: PlanOperationResult): string {
  const [done, would, rest] = PHRASES[result.type as PlanOperationType];
  const what = rest(`\`${result.target_file}\``, plural(result.lines, 'line'), result);
  return result.status === 'planned' ? `Would ${would} ${what}.` : `${done} ${what}.`;
}

type Phrase = readonly [
  done: string,
  would: string,
  rest: (file: string, lines: string, result: PlanOperationResult) => string,
];

const PHRASES: Readonly<Record<PlanOperationType, Phrase>> = {
  create: ['Created', 'create', (file, lines) => `${file} with ${lines}`],
  append: ['Appended', 'append', (file, lines) => `${lines} to ${file}`],
  overwrite: ['Overwrote', 'overwrite', (file, lines) => `${file} with ${lines}`],
  insert: ['Inserted', 'insert', (file, lines) => `${lines} into ${file}`],
  replace: ['Replaced', 'replace', (file, lines) => `a block of ${file} with ${lines}`],
  replace_all: [
    'Replaced',
    'replace',
    (file, _lines, { occurrences = 0 }) => `${plural(occurrences, 'occurrence')} in ${file}`,
  ],
};

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

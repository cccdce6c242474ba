import type {
  ByteSource,
  SessionMetadata,
  TargetSnapshot,
  WriteOperation,
  WritePlan,
  WritePlanOperation,
} from '@orion/contracts';

import type { BeginRequest } from './begin-request.ts';
import { requestOf } from './execute.ts';
import type { PlanPorts } from './execute.ts';
import { readImage } from './file-image.ts';
import { Pace } from './pace.ts';
import { planChanges } from './plan-changes.ts';
import type { PlannedChange, PlannedEdit } from './plan-changes.ts';
import { proposalOf } from './review.ts';
import type { ChangeProposal } from './review.ts';
import { countLineFeeds } from './reported-lines.ts';
import { wholeTextChange, withWarnings } from './whole-text.ts';
import type { WholeTextChange } from './whole-text.ts';

/** The change that a session is about to make; `proposal` is null if no approval is needed. */
export type SessionChange = Pick<WholeTextChange, 'request' | 'givenBytes' | 'reported'> & {
  readonly proposal: ((sha256: string) => ChangeProposal) | null;
  /** The number of line feeds in the file before the text. */
  readonly linesBefore: () => Promise<number>;
};

export type SessionText = {
  readonly metadata: SessionMetadata;
  readonly operation: WriteOperation;
  readonly expected: TargetSnapshot;
  readonly source: ByteSource;
  readonly eol: WritePlan['eol'];
};

/** Plans the operation of a session. The text is not read first if nothing depends on it. */
export async function sessionChange(
  { metadata, operation, expected, source, eol }: SessionText,
  isReviewed: boolean,
  ports: PlanPorts,
): Promise<SessionChange> {
  if (operation !== 'insert' && operation !== 'replace' && !isReviewed) {
    const startOnNewLine = metadata.start_on_new_line === true;
    const change = wholeTextChange({ operation, expected, source, eol, startOnNewLine });
    return {
      ...change,
      proposal: null,
      linesBefore: async () => {
        if (operation !== 'append') return 0;
        const old = ports.workspace.readTarget(expected);
        return (await countLineFeeds(old, expected.bytes)) + (change.endsLine ? 1 : 0);
      },
    };
  }
  const content = { kind: 'bytes', source } as const;
  const { change, edit } = await planOne(metadata, operation, expected, { content, eol }, ports);
  return {
    request: requestOf(change),
    givenBytes: () => change.givenBytes,
    // A line ending before the text does not count as a line of it.
    reported: (result) => withWarnings({ ...result, lines: edit.lines }, edit.warnings),
    proposal: (sha256) => proposalOf(change, sha256),
    linesBefore: () =>
      countLineFeeds(readImage(change.state.image, change.state.readBase), edit.startsAt),
  };
}

/** Rejects if the place that an insert or replace names cannot be used. */
export async function requirePlace(
  request: BeginRequest,
  target: TargetSnapshot,
  ports: PlanPorts,
): Promise<void> {
  const text = { content: { kind: 'text', text: '' }, eol: 'as-is' } as const;
  await planOne(request, request.operation, target, text, ports);
}

async function planOne(
  { location, start_on_new_line }: Pick<BeginRequest, 'location' | 'start_on_new_line'>,
  type: WriteOperation,
  expected: TargetSnapshot,
  { content, eol }: Pick<WritePlanOperation, 'content'> & Pick<WritePlan, 'eol'>,
  ports: PlanPorts,
): Promise<{ readonly change: PlannedChange; readonly edit: PlannedEdit }> {
  const base = { type, target_file: expected.path, content };
  // The location fits the operation: the readers of begin's arguments and of session metadata check this.
  const operation = { ...base, location, start_on_new_line } as WritePlanOperation;
  const planned = await planChanges(
    { must_exist: false, eol },
    [{ kind: 'operation', operation }],
    {
      ...ports,
      pace: new Pace(null, ports.nextTurn),
      snapshotOf: () => expected,
    },
  );
  const {
    changes: [change],
    verdicts: [verdict],
  } = planned;
  if (verdict?.kind === 'refused') throw verdict.error;
  if (change === undefined || verdict?.kind !== 'planned') {
    throw new Error('a plan of one operation has one change');
  }
  return { change, edit: verdict.edit };
}

import { OrionError } from '@orion/contracts';
import type {
  ByteSource,
  SessionMetadata,
  TargetSnapshot,
  WriteOperation,
  WritePlan,
  WritePlanOperation,
} from '@orion/contracts';

import type { BeginRequest } from './begin-request.ts';
import { planSingle, requestOf } from './execute.ts';
import type { PlanPorts } from './execute.ts';
import { readImage } from './file-image.ts';
import { Pace } from './pace.ts';
import type { PlannedChange, ToldEdit } from './plan-changes.ts';
import { proposalOf } from './review.ts';
import type { ChangeProposal } from './review.ts';
import { countLineFeeds } from './told-lines.ts';
import { wholeTextChange, withWarnings } from './whole-text.ts';
import type { WholeTextChange } from './whole-text.ts';

/** What a session is about to do; `proposal` where somebody is asked about it. */
export type SessionChange = Pick<WholeTextChange, 'request' | 'givenBytes' | 'told'> & {
  readonly proposal: ((sha256: string) => ChangeProposal) | null;
  /** Line feeds of the file that stand before the text. */
  readonly linesBefore: () => Promise<number>;
};

export type SessionText = {
  readonly metadata: SessionMetadata;
  readonly operation: WriteOperation;
  readonly expected: TargetSnapshot;
  readonly source: ByteSource;
  readonly eol: WritePlan['eol'];
};

/** The plan of one operation, without looking at the text first where nothing depends on it. */
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
    // A line ending before the text is none of its lines.
    told: (result) => withWarnings({ ...result, lines: edit.lines }, edit.warnings),
    proposal: (sha256) => proposalOf(change, sha256),
    linesBefore: () =>
      countLineFeeds(readImage(change.state.image, change.state.readBase), edit.startsAt),
  };
}

/** Rejects with what is wrong with the place that an insert or replace names. */
export async function requirePlace(
  request: BeginRequest,
  target: TargetSnapshot,
  ports: PlanPorts,
): Promise<void> {
  const text = { content: { kind: 'text', text: '' }, eol: 'as-is' } as const;
  await planOne(request, request.operation, target, text, ports);
}

function planOne(
  begun: Pick<BeginRequest, 'intent' | 'location' | 'start_on_new_line'>,
  type: WriteOperation,
  expected: TargetSnapshot,
  { content, eol }: Pick<WritePlanOperation, 'content'> & Pick<WritePlan, 'eol'>,
  ports: PlanPorts,
): Promise<{ readonly change: PlannedChange; readonly edit: ToldEdit }> {
  const operation = operationFor(type, expected.path, begun, content);
  const { intent } = begun;
  const plan = { intent, must_exist: false, backup_required: false, atomic: true, eol };
  return planSingle(plan, operation, expected, { ...ports, pace: new Pace(null, ports.nextTurn) });
}

function operationFor(
  type: WriteOperation,
  target: string,
  { location, start_on_new_line }: Pick<BeginRequest, 'location' | 'start_on_new_line'>,
  content: WritePlanOperation['content'],
): WritePlanOperation {
  const base = { target_file: target, content };
  switch (type) {
    case 'create':
    case 'overwrite':
      return { type, ...base };
    case 'append':
      return { type, ...base, ...(start_on_new_line === true ? { start_on_new_line } : {}) };
    case 'insert':
      if (location === undefined || !('marker' in location)) throw noLocation(target);
      return { type, ...base, location };
    case 'replace':
      if (location === undefined || !('start_marker' in location)) throw noLocation(target);
      return { type, ...base, location };
    default:
      return type satisfies never;
  }
}

function noLocation(target: string): OrionError {
  return new OrionError({
    code: 'INVALID_OPERATION',
    message: `Where the text goes in ${target} is not known.`,
  });
}

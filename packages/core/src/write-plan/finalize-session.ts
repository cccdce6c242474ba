import { OrionError } from '@orion/contracts';
import type {
  ByteSource,
  CommitResult,
  SessionHandle,
  TargetSnapshot,
  Workspace,
  WriteOperation,
  WritePlan,
  WriteReceipt,
} from '@orion/contracts';

import { findHiddenCharacters } from '../validation/hidden-characters.ts';
import { excusedBy } from '../validation/omissions.ts';
import type { Omission } from '../validation/omissions.ts';
import { repairedText } from '../validation/repaired-text.ts';
import { describeInvalid, replacedPlaces } from '../validation/validate-session-text.ts';
import type { NeedsCorrections } from '../validation/validate-session-text.ts';
import { completeText } from '../validation/validated-text.ts';
import type { LineEndingText } from '../write-session/text/content-summary.ts';
import { MAX_REVIEWS } from './execute.ts';
import type { PlanPorts } from './execute.ts';
import { requireApproval } from './review.ts';
import type { ApprovalPolicy } from './review.ts';
import { sessionChange } from './session-change.ts';
import type { SessionChange } from './session-change.ts';
import { replacesText, sessionReceipt } from './session-receipt.ts';
import type { Findings, SavedFacts } from './session-receipt.ts';
import { suspectedOmissions } from './suspect-omissions.ts';
import { hasReportedLines } from './reported-lines.ts';

/**
 * Facts about the session that only the reducer knows. Line numbers, also those of seams, refer to the saved text; the
 * receipt converts them to lines of the file.
 */
export type FinalizeFacts = SavedFacts & {
  /** Added at the end of the text. */
  readonly lineEnding?: LineEndingText;
  /** Cancels a question to a person. */
  readonly signal?: AbortSignal;
  /** Who approves the change, instead of whom the tool asks otherwise. */
  readonly approval?: ApprovalPolicy;
  /** Whether lines that seem to stand for omitted text prevent the write. */
  readonly askOmissions: boolean;
  /** Another target than the session's own, when a person resolves a conflict. */
  readonly target?: { readonly operation: WriteOperation; readonly expected: TargetSnapshot };
};

export type FinalizeOutcome =
  | { readonly kind: 'written'; readonly receipt: WriteReceipt }
  /** Nothing is written: the text is not valid UTF-8. */
  | { readonly kind: 'needs_corrections'; readonly corrections: NeedsCorrections }
  /** Nothing is written: the text would replace an old file and seems to omit parts of it. */
  | { readonly kind: 'omissions_suspected'; readonly omissions: readonly Omission[] };

export type FinalizePorts = PlanPorts & {
  readonly workspace: Pick<Workspace, 'commit'>;
  readonly approval: ApprovalPolicy;
  readonly eol: WritePlan['eol'];
};

/** Writes the file from the text that a session has saved, or returns what must be asked first. */
export async function finalizeSession(
  handle: SessionHandle,
  facts: FinalizeFacts,
  ports: FinalizePorts,
): Promise<FinalizeOutcome> {
  const { metadata } = handle;
  const { start, end, repair } = facts;
  const { operation, expected } = facts.target ?? {
    operation: metadata.operation,
    expected: metadata.target,
  };
  const savedBytes = (end ?? handle.bytes()) - start;
  const saved = completeText(
    () => handle.readContent(start, end ?? undefined),
    savedBytes,
    expected.path,
  );
  const source = withEnding(repairedText(saved, repair), facts.lineEnding ?? '');
  const omissions = replacesText(operation, expected)
    ? await suspectedOmissions(source, () => excusedBy(() => ports.workspace.readTarget(expected)))
    : [];
  if (facts.askOmissions && omissions.length > 0) {
    return { kind: 'omissions_suspected', omissions };
  }
  const replaced = await replacedPlaces(saved, repair, expected.path);
  const hidden = await findHiddenCharacters(source, expected.path);
  const findings: Findings = { omissions, replaced, hidden };
  const text = { metadata, operation, expected, source, eol: ports.eol };
  let written: Committed;
  try {
    const change = await sessionChange(text, ports.approval.kind === 'ask', ports);
    written = await commit(handle, change, namesLines(facts, findings), facts.signal, ports);
  } catch (error) {
    if (!OrionError.isInstance(error) || error.code !== 'INVALID_CONTENT') throw error;
    const invalid = { sessionId: handle.id, target: expected.path, text: source, repair };
    return { kind: 'needs_corrections', corrections: await describeInvalid(invalid) };
  }
  const { givenBytes, ...rest } = written;
  const textBytes = repair === null ? givenBytes : savedBytes;
  const receipt = await sessionReceipt(handle, facts, { ...rest, operation, findings, textBytes });
  return { kind: 'written', receipt };
}

/** Whether the receipt will name lines of the file. */
function namesLines(facts: SavedFacts, { omissions, replaced, hidden }: Findings): boolean {
  return hasReportedLines(facts) || omissions.length > 0 || replaced.count > 0 || hidden.count > 0;
}

type Committed = {
  readonly commit: CommitResult;
  readonly linesBefore: number;
  readonly givenBytes: number;
};

/** B18: if the prepared bytes are not the approved ones, nothing is written and approval is asked for again. */
async function commit(
  handle: SessionHandle,
  change: SessionChange,
  namesLinesOfFile: boolean,
  signal: AbortSignal | undefined,
  ports: FinalizePorts,
): Promise<Committed> {
  const linesBefore = namesLinesOfFile ? await change.linesBefore() : 0;
  for (let review = 1; ; review += 1) {
    try {
      const done = await commitOnce(handle, change, linesBefore, signal, ports);
      return { commit: done, linesBefore, givenBytes: change.givenBytes() };
    } catch (error) {
      const isStale = OrionError.isInstance(error) && error.code === 'APPROVAL_STALE';
      if (!isStale || review === MAX_REVIEWS) throw error;
    }
  }
}

async function commitOnce(
  handle: SessionHandle,
  change: SessionChange,
  linesBefore: number,
  signal: AbortSignal | undefined,
  { workspace, approval }: FinalizePorts,
): Promise<CommitResult> {
  const result = await workspace.commit({
    ...change.request,
    ...(approval.kind === 'ask' ? { reviewed: true } : {}),
    changeId: handle.id,
    journal: async (writing) => {
      const record = { ...writing, result: change.reported(writing.result) };
      const changes = change.proposal === null ? [] : [change.proposal(writing.after)];
      const request = { id: handle.id, intent: handle.metadata.intent, changes };
      await requireApproval(approval, request, signal);
      await handle.recordWriting(
        linesBefore === 0 ? record : { ...record, lines_before: linesBefore },
      );
    },
  });
  return change.reported(result);
}

/** The text followed by a line ending. */
function withEnding(text: ByteSource, ending: LineEndingText): ByteSource {
  if (ending === '') return text;
  return async function* ended(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* text();
    yield new TextEncoder().encode(ending);
  };
}

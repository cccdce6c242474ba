import { OrionError } from '@orion/contracts';
import type {
  ByteSource,
  Clock,
  CommitResult,
  JsonObject,
  PatternMatcher,
  PlanReport,
  Seam,
  SessionHandle,
  SessionMetadata,
  TargetSnapshot,
  TextRepair,
  Tool,
  TurnRecord,
  Workspace,
  WriteOperation,
  WritePlan,
  WritePlanOperation,
  WriteReceipt,
} from '@orion/contracts';

import { completeText } from './validation/validated-text.ts';
import { findHiddenCharacters } from './validation/hidden-characters.ts';
import { findOmissions } from './validation/omissions.ts';
import type { Omission } from './validation/omissions.ts';
import { repairedText } from './validation/repaired-text.ts';
import {
  describeInvalid,
  replacedPlaces,
  summarizeValidation,
} from './validation/validate-session-text.ts';
import type { NeedsCorrections } from './validation/validate-session-text.ts';
import { applyPlan } from './write-plan/apply-plan.ts';
import type { PlanOptions } from './write-plan/apply-plan.ts';
import type { BeginRequest, BegunSession } from './write-plan/begin-request.ts';
import { createBeginTool } from './write-plan/begin-tool.ts';
import { MAX_REVIEWS, planSingle, requestOf } from './write-plan/execute.ts';
import { encodingNote, requireTakesText } from './write-plan/fitting-text.ts';
import { readImage } from './write-plan/file-image.ts';
import { Pace } from './write-plan/pace.ts';
import { neverApproved, proposalOf, requireApproval } from './write-plan/review.ts';
import type { ApprovalPolicy, ChangeProposal } from './write-plan/review.ts';
import { countLineFeeds, linesInFile, tellsLines } from './write-plan/told-lines.ts';
import { wholeTextChange, withWarnings } from './write-plan/whole-text.ts';
import type { WholeTextChange } from './write-plan/whole-text.ts';
import type { LineEndingText, ReceiptNotes } from './write-session/session.ts';
import { beginInstructions } from './write-session/text/prompts.ts';

/** What the reducer knows of the session that the commit alone does not. */
export type FinalizeFacts = {
  readonly start: number;
  /** Null: to the end. */
  readonly end: number | null;
  /** Added behind the text. */
  readonly lineEnding?: LineEndingText;
  readonly notes: ReceiptNotes;
  /** Lines of the saved text, here and in the seams; the receipt names those of the file. */
  readonly innerDoneLines: readonly number[];
  readonly seams: readonly Seam[];
  readonly repair: TextRepair | null;
  /** Ends a question to a person. */
  readonly signal?: AbortSignal;
  /** Whether lines that stand for left-out text are a reason not to write yet. */
  readonly askOmissions: boolean;
  /** Another target than the session's own, when a person resolves a conflict. */
  readonly target?: { readonly operation: WriteOperation; readonly expected: TargetSnapshot };
};

export type FinalizeOutcome =
  | { readonly kind: 'written'; readonly receipt: WriteReceipt }
  /** Nothing is written: the text is no valid UTF-8 as it stands. */
  | { readonly kind: 'needs_corrections'; readonly corrections: NeedsCorrections }
  /** Nothing is written: in place of an old file stands one that seems to leave out parts of it. */
  | { readonly kind: 'omissions_suspected'; readonly omissions: readonly Omission[] };

export interface WritePlanTool {
  /** The definition that a model sees, bound to what opens the session. */
  tool(open: (request: BeginRequest, toolCallId: string) => Promise<BegunSession>): Tool;
  /**
   * Checks the request, makes the session on disk, and words the result for the model. `turn` is what a recovery
   * needs to know; it is on disk as soon as the session is.
   */
  begin(request: BeginRequest, turn?: TurnRecord): Promise<BegunSession>;
  /**
   * Runs a write plan: its JSON form, or `{plan}` around it. Rejects with INVALID_PLAN; an operation that fails is
   * reported, and then nothing has changed unless the plan says `atomic: false`.
   */
  execute(plan: unknown, options?: PlanOptions): Promise<PlanReport>;
  /**
   * Writes what a session has saved to its target. Internal: no model reaches it.
   *
   * `diskFilePath` must be the session's own content file (INVALID_CONTENT_PATH). Rejects with SESSION_NOT_FOUND,
   * with VALIDATION_FAILED when the text cannot be validated, and with what the commit rejects with; nothing is
   * written then, and the session stays. Text that is not valid is an outcome, not a failure.
   */
  finalizeSession(
    sessionId: string,
    diskFilePath: string,
    facts: FinalizeFacts,
  ): Promise<FinalizeOutcome>;
  /** Makes a session known that was opened by a recovery. */
  adopt(handle: SessionHandle): void;
  forget(sessionId: string): void;
}

export type WritePlanToolOptions = {
  readonly workspace: Workspace;
  readonly clock: Clock;
  /** A new lower-case UUID v4 each time. */
  readonly createId: () => string;
  readonly patterns: PatternMatcher;
  /** Who agrees to what a session or a plan is about to change; nobody has to when left out. */
  readonly approval?: ApprovalPolicy;
  /**
   * Lets the rest of the process have its turn while a plan is judged; the microtasks alone when left out, so that
   * nothing can be called off.
   */
  readonly nextTurn?: () => Promise<void>;
  /** Whether new text takes the line endings of the file it goes into; `match` when left out. */
  readonly eol?: 'match' | 'as-is';
  /** Whether only a session's own end marker ends its text. */
  readonly strict?: boolean;
};

export function createWritePlanTool(options: WritePlanToolOptions): WritePlanTool {
  const { workspace, clock, createId, patterns, strict = false } = options;
  const approval: ApprovalPolicy = options.approval ?? { kind: 'auto' };
  const sessions = new Map<string, SessionHandle>();
  const nextTurn = options.nextTurn ?? (() => Promise.resolve());
  const ports = { workspace, patterns, nextTurn };

  async function begin(request: BeginRequest, turn?: TurnRecord): Promise<BegunSession> {
    if (approval.kind === 'never') throw neverApproved();
    const target = await workspace.checkTarget(request.target_file, request.operation);
    if (keepsText(request.operation)) requireTakesText(target);
    if (request.location !== undefined) await requirePlace(request, target);
    const sessionId = createId();
    const endMarker = `DONE ${sessionId.slice(0, 4)}`;
    const metadata: SessionMetadata = {
      version: 1,
      session_id: sessionId,
      intent: request.intent,
      target_file: target.path,
      operation: request.operation,
      ...(request.location === undefined ? {} : { location: request.location }),
      created_at: new Date(clock.now()).toISOString(),
      end_marker: endMarker,
      final_newline: request.final_newline,
      ...(request.start_on_new_line === true ? { start_on_new_line: true } : {}),
      ...(keepsLeadingBlankLines(request, target) ? { keep_leading_blank_lines: true } : {}),
      target,
    };
    const handle = await workspace.sessions.begin(metadata, turn);
    sessions.set(sessionId, handle);
    return {
      handle,
      result: {
        session_id: sessionId,
        stage: 'awaiting_content',
        session_dir: handle.directory,
        target_file: target.path,
        operation: request.operation,
        ...factsOf(target, request.operation),
        instructions: beginInstructions({
          target: target.path,
          operation: request.operation,
          location: request.location,
          endMarker,
          strict,
        }),
        end_marker: endMarker,
        next: 'content',
      },
    };
  }

  async function finalizeSession(
    sessionId: string,
    diskFilePath: string,
    facts: FinalizeFacts,
  ): Promise<FinalizeOutcome> {
    const handle = sessions.get(sessionId);
    if (handle === undefined) {
      throw new OrionError({
        code: 'SESSION_NOT_FOUND',
        message: 'Session not found or expired. Please start a new write session.',
      });
    }
    if (diskFilePath !== handle.contentPath()) {
      throw new OrionError({
        code: 'INVALID_CONTENT_PATH',
        message: `${diskFilePath} is not the content file of session ${sessionId}.`,
      });
    }
    const { metadata } = handle;
    const operation = facts.target?.operation ?? metadata.operation;
    const expected = facts.target?.expected ?? metadata.target;
    const { repair } = facts;
    const savedBytes = (facts.end ?? handle.bytes()) - facts.start;
    const saved = completeText(
      () => handle.readContent(facts.start, facts.end ?? undefined),
      savedBytes,
      expected.path,
    );
    const text = withEnding(repairedText(saved, repair), facts.lineEnding ?? '');
    const omissions = replacesText(operation, expected)
      ? await suspectOmissions(text, () => workspace.readTarget(expected))
      : [];
    if (facts.askOmissions && omissions.length > 0) {
      return { kind: 'omissions_suspected', omissions };
    }
    const replaced = await replacedPlaces(saved, repair, expected.path);
    const hidden = await findHiddenCharacters(text, expected.path);
    let commit: CommitResult;
    let givenBytes: number;
    let linesBefore = 0;
    try {
      const change = await sessionChange(metadata, operation, expected, text);
      const counts = [omissions.length, replaced.count, hidden.count];
      const tells = tellsLines(facts) || counts.some((count) => count > 0);
      if (tells) linesBefore = await change.linesBefore();
      commit = await commitSession(handle, change, linesBefore, facts.signal);
      givenBytes = change.givenBytes();
    } catch (error) {
      if (!OrionError.isInstance(error) || error.code !== 'INVALID_CONTENT') throw error;
      const corrections = await describeInvalid({ sessionId, target: expected.path, text, repair });
      return { kind: 'needs_corrections', corrections };
    }
    const { start, end } = facts;
    const told = await linesInFile(facts, { handle, start, end }, linesBefore);
    const receipt: WriteReceipt = {
      session_id: sessionId,
      target_file: commit.path,
      operation,
      bytes: commit.bytes,
      lines: commit.lines,
      sha256: commit.sha256,
      eol: commit.eol,
      bom: commit.bom,
      mode: commit.mode,
      persistence: handle.persistence(),
      ...facts.notes,
      inner_done_lines: told.innerDoneLines,
      seams: told.seams,
      validation_summary: summarizeValidation({
        textBytes: repair === null ? givenBytes : savedBytes,
        repair,
        replaced,
        omissions,
        hidden,
        linesBefore,
        writtenBytes: commit.bytes,
      }),
      ...(commit.backup_id === undefined ? {} : { backup_id: commit.backup_id }),
      ...(commit.backup_path === undefined ? {} : { backup_path: commit.backup_path }),
      warnings: [...commit.warnings, ...facts.notes.warnings],
      not_kept: commit.not_kept,
    };
    return { kind: 'written', receipt };
  }

  /** The plan of one operation, without looking at the text first where nothing depends on it. */
  async function sessionChange(
    metadata: SessionMetadata,
    operation: WriteOperation,
    expected: TargetSnapshot,
    source: ByteSource,
  ): Promise<SessionChange> {
    const eol = options.eol ?? 'match';
    const isEdit = operation === 'insert' || operation === 'replace';
    if (!isEdit && approval.kind !== 'ask') {
      const change = wholeTextChange({
        operation,
        expected,
        source,
        eol,
        startOnNewLine: metadata.start_on_new_line === true,
      });
      return {
        ...change,
        proposal: null,
        linesBefore: async () => {
          if (operation !== 'append') return 0;
          const before = await countLineFeeds(workspace.readTarget(expected), expected.bytes);
          return before + (change.endsLine ? 1 : 0);
        },
      };
    }
    const content = { kind: 'bytes', source } as const;
    const { change, edit } = await planSingle(
      {
        ...PLAN_OF_ONE,
        intent: metadata.intent,
        operations: [operationFor(operation, expected.path, metadata, content)],
        eol,
      },
      expected,
      { ...ports, pace: new Pace(null, nextTurn) },
    );
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

  /** B18: what was approved and is no longer what lies ready is not written; somebody is asked anew. */
  async function commitSession(
    handle: SessionHandle,
    change: SessionChange,
    linesBefore: number,
    signal: AbortSignal | undefined,
  ): Promise<CommitResult> {
    for (let review = 1; ; review += 1) {
      try {
        return await commitOnce(handle, change, linesBefore, signal);
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
  ): Promise<CommitResult> {
    const commit = await workspace.commit({
      ...change.request,
      ...(approval.kind === 'ask' ? { reviewed: true } : {}),
      changeId: handle.id,
      journal: async (writing) => {
        const told = { ...writing, result: change.told(writing.result) };
        const changes = change.proposal === null ? [] : [change.proposal(writing.after)];
        const request = { id: handle.id, intent: handle.metadata.intent, changes };
        await requireApproval(approval, request, signal);
        await handle.recordWriting(
          linesBefore === 0 ? told : { ...told, lines_before: linesBefore },
        );
      },
    });
    return change.told(commit);
  }

  /** Found at begin what would be missed after the whole text was streamed. */
  async function requirePlace(request: BeginRequest, target: TargetSnapshot): Promise<void> {
    const nothing = { kind: 'text', text: '' } as const;
    await planSingle(
      {
        ...PLAN_OF_ONE,
        intent: request.intent,
        operations: [operationFor(request.operation, target.path, request, nothing)],
        eol: 'as-is',
      },
      target,
      { ...ports, pace: new Pace(null, nextTurn) },
    );
  }

  return {
    begin,
    execute: (plan, planOptions = {}) =>
      applyPlan(plan, { approval, ...planOptions }, createId(), ports),
    finalizeSession,
    adopt: (handle) => void sessions.set(handle.id, handle),
    forget: (sessionId) => void sessions.delete(sessionId),
    tool: (open) => createBeginTool(open, strict),
  };
}

/** The same text, and a line ending that its last line lacks. */
function withEnding(text: ByteSource, ending: LineEndingText): ByteSource {
  if (ending === '') return text;
  return async function* ended(): AsyncGenerator<Uint8Array, void, undefined> {
    yield* text();
    yield new TextEncoder().encode(ending);
  };
}

/** What was there before the text is gone after it. */
function replacesText(operation: WriteOperation, expected: TargetSnapshot): boolean {
  return operation === 'replace' || (operation === 'overwrite' && expected.exists);
}

/** A text or a target that cannot be read is told by the commit, with its own code. */
async function suspectOmissions(
  text: ByteSource,
  previous: ByteSource,
): Promise<readonly Omission[]> {
  try {
    return await findOmissions(text, previous);
  } catch (error) {
    if (OrionError.isInstance(error)) return [];
    throw error;
  }
}

/** What a session is about to do; `proposal` where somebody is asked about it. */
type SessionChange = Pick<WholeTextChange, 'request' | 'givenBytes' | 'told'> & {
  readonly proposal: ((sha256: string) => ChangeProposal) | null;
  /** Line feeds of the file that stand before the text. */
  readonly linesBefore: () => Promise<number>;
};

const PLAN_OF_ONE = {
  must_exist: false,
  backup_required: false,
  atomic: true,
} as const satisfies Partial<WritePlan>;

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

function keepsText(operation: WriteOperation): boolean {
  return operation !== 'create' && operation !== 'overwrite';
}

/** R272: where the file that is replaced begins with a blank line, the new one may rightly do so, too. */
function keepsLeadingBlankLines(request: BeginRequest, target: TargetSnapshot): boolean {
  if (keepsText(request.operation)) return false;
  return request.keep_leading_blank_lines === true || target.beginsBlank === true;
}

/** R298: what the model cannot see of the file, and what it writes depends on. */
function factsOf(target: TargetSnapshot, operation: WriteOperation): JsonObject {
  const { encoding, unterminated } = target;
  return {
    ...(operation === 'append' && unterminated === true ? { ends_without_newline: true } : {}),
    ...(encoding === undefined
      ? {}
      : { encoding, encoding_note: encodingNote(encoding, !keepsText(operation)) }),
  };
}

function noLocation(target: string): OrionError {
  return new OrionError({
    code: 'INVALID_OPERATION',
    message: `Where the text goes in ${target} is not known.`,
  });
}

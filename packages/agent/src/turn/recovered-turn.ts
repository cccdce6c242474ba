import { OrionError } from '@orion/contracts';
import type {
  ErrorCode,
  RunEventBody,
  SessionHandle,
  TextCorrection,
  WriteReceipt,
} from '@orion/contracts';
import { answeredCorrections } from '@orion/core';

import { sessionSettingsOf } from '../config/derived-settings.ts';
import { receiptMessage, withRemoved } from './receipt-message.ts';
import { captureArguments } from './argument-capture.ts';
import { identityOf, recoveredHistory, recoverSession } from './recovery.ts';
import type { RecoveredSession } from './recovery.ts';
import { sessionEvent } from './session/session-event.ts';
import type { SessionStart, TurnContext } from './session/session-run.ts';
import { targetNow } from './session/target-now.ts';
import { turnContext } from './turn-context.ts';
import { mayRepeat, notice, overtakenEnd, unfinishedEnd } from './turn-ends.ts';
import type { Decision, TurnEnd, TurnScope, UploadEnd } from './turn-scope.ts';

/** Continues an orphan: with its model, or as a person decided. Null: it is committed. */
export async function* recover(
  scope: TurnScope,
  sessionId: string,
  decision: Decision | null,
): AsyncGenerator<RunEventBody, TurnEnd | null> {
  const { workspace, settings, ownership } = scope.dependencies;
  const fence = ownership.fence ?? undefined;
  const own = sessionSettingsOf(settings, null);
  const recovered = await recoverSession(workspace, sessionId, own, fence);
  const { turn } = recovered;
  scope.messages = decision === null ? recoveredHistory(recovered) : (turn?.messages ?? []);
  if (turn !== null) {
    scope.recovered = { sessionId, callId: turn.callId, identity: identityOf(turn) };
  }
  const end = yield* goOnWriting(scope, recovered, {
    callId: turn?.callId ?? '',
    decide: () => Promise.resolve(decision),
    context: () => recoveryContext(scope, recovered),
  });
  if (end.kind === 'ended') return end.end;
  if (end.kind === 'aborted') return { status: 'incomplete' };
  scope.remember();
  return null;
}

/** How a claimed session ended in this turn. */
export type WritingEnd =
  | { readonly kind: 'committed'; readonly receipt: WriteReceipt }
  | { readonly kind: 'aborted'; readonly code: ErrorCode }
  /** And the turn with it. */
  | { readonly kind: 'ended'; readonly end: TurnEnd };

/** Drives a claimed session from where its process has left it, a commit included. It is released on every path. */
export async function* goOnWriting(
  scope: TurnScope,
  recovered: RecoveredSession,
  {
    callId,
    events = [],
    decide,
    context: connect,
  }: {
    /** The call that began it, answered in `scope.messages`. */
    readonly callId: string;
    /** What is told first. */
    readonly events?: Iterable<RunEventBody>;
    readonly decide: () => Promise<Decision | null>;
    /** For the model, if it is needed. */
    readonly context: () => Promise<TurnContext>;
  },
): AsyncGenerator<RunEventBody, WritingEnd> {
  const { settings, writePlanTool } = scope.dependencies;
  const { handle, turn, commit } = recovered;
  writePlanTool.adopt(handle);
  let driven = false;
  try {
    yield* events;
    const decision = await decide();
    scope.begin(handle, callId);
    for (const note of recovered.notes) yield notice(note);
    if (commit.kind === 'happened') {
      // The session goes before its receipt is logged: another owner has to know of the file without it.
      await scope.owned?.checkpoints.written(callId, commit.receipt);
      driven = true;
      yield* concludeCommit(scope, recovered, commit.receipt);
      return { kind: 'committed', receipt: commit.receipt };
    }
    if (commit.kind === 'overtaken' && !settles(decision, recovered, commit.written)) {
      return { kind: 'ended', end: yield* overtakenEnd(recovered, commit.written, scope) };
    }
    // What was about to be written when the process died needs no model any more.
    const decided = decision ?? (commit.kind === 'not_happened' ? {} : null);
    if (decided === null && handle.metadata.uploaded === true) throw notWithoutUpload(handle);
    const context = decided === null ? await connect() : null;
    const start: SessionStart =
      decided === null ? { kind: 'recover' } : await finalizeStart(scope, recovered, decided);
    const session =
      context === null
        ? recovered.session
        : { ...recovered.session, settings: sessionSettingsOf(settings, context.adapter) };
    driven = true;
    const outcome = yield* scope.drive(session, context, start, turn?.protocol);
    if (outcome.kind === 'committed' || outcome.kind === 'aborted') return outcome;
    return { kind: 'ended', end: yield* unfinishedEnd(outcome, handle, scope) };
  } finally {
    if (!driven) await handle.release();
  }
}

async function recoveryContext(scope: TurnScope, { turn }: RecoveredSession): Promise<TurnContext> {
  const { connect, writePlanTool, approval, ownership } = scope.dependencies;
  const fence = ownership.fence ?? undefined;
  const { adapter } = await connect(turn === null ? null : identityOf(turn));
  const capturing = captureArguments(adapter, scope.kept);
  return turnContext(scope, capturing, turn?.mode ?? 'act', (request) =>
    writePlanTool.begin(request, undefined, approval, fence),
  );
}

async function* concludeCommit(
  scope: TurnScope,
  { handle, session }: RecoveredSession,
  receipt: WriteReceipt,
): AsyncGenerator<RunEventBody, void> {
  scope.answerBegin(receiptMessage(receipt), 'closed');
  scope.remember();
  yield {
    ...sessionEvent(session, session.summary.bytes),
    status: 'done',
    receipt: withRemoved(receipt, await handle.remove()),
  };
}

/** Whether the decision says what is to become of a file that somebody changed since. */
function settles(
  decision: Decision | null,
  recovered: RecoveredSession,
  written: string | null,
): boolean {
  if (decision?.onConflict === undefined) return false;
  return decision.onConflict !== 'overwrite' || written === null || mayRepeat(recovered);
}

async function finalizeStart(
  scope: TurnScope,
  recovered: RecoveredSession,
  { answer, endAt, onConflict, upload }: Decision,
): Promise<SessionStart> {
  const start: SessionStart =
    upload === undefined
      ? {
          kind: 'finalize',
          answer:
            endAt !== undefined ? { kind: 'end', line: endAt } : answer ? { kind: answer } : null,
        }
      : { kind: 'upload_ended', corrections: await uploadCorrections(recovered, upload) };
  const { workspace } = scope.dependencies;
  const { metadata } = recovered.handle;
  const { target_file, session_id } = metadata;
  if (onConflict === undefined) return start;
  if (onConflict === 'overwrite') return { ...start, target: await targetNow(workspace, metadata) };
  const name = besideName(target_file, session_id.slice(0, 4));
  const expected = await workspace.checkTarget(name, 'create');
  return { ...start, target: { operation: 'create', expected } };
}

/** Rejects with EMPTY_CONTENT, and with USAGE for corrections that nothing needs. */
async function uploadCorrections(
  { handle, session: { summary, repair, metadata } }: RecoveredSession,
  { answers, allowEmpty }: UploadEnd,
): Promise<readonly TextCorrection[] | null> {
  if (summary.bytes === 0 && !(allowEmpty && metadata.operation === 'create')) {
    throw new OrionError({
      code: 'EMPTY_CONTENT',
      message: `Nothing is saved for ${metadata.target_file}.`,
      hint: 'Upload the text. Only a new file may be empty, and only if that is allowed explicitly.',
    });
  }
  if (answers === null) return null;
  if (repair === null) {
    const message = 'No correction was asked for: finalize the session first.';
    throw new OrionError({ code: 'USAGE', message });
  }
  return answeredCorrections(() => handle.readContent(), repair, answers);
}

function notWithoutUpload({ metadata }: SessionHandle): OrionError {
  return new OrionError({
    code: 'USAGE',
    message: `No model continues the text for ${metadata.target_file}: a program uploads it.`,
    hint: 'Upload the rest of it, write what is saved (finalize), or discard the session.',
  });
}

/** `docs/a.md` and `7f3a` make `docs/a.orion-7f3a.md`. */
function besideName(target: string, tag: string): string {
  const slash = target.lastIndexOf('/');
  const dot = target.lastIndexOf('.');
  if (dot <= slash + 1) return `${target}.orion-${tag}`;
  return `${target.slice(0, dot)}.orion-${tag}${target.slice(dot)}`;
}

import type { RunEventBody, SessionHandle, WriteReceipt } from '@orion/contracts';
import type { FinalizeFacts } from '@orion/core';

import { sessionSettingsOf } from '../config/derived-settings.ts';
import { receiptMessage, withRemoved } from './receipt-message.ts';
import { identityOf, recoveredHistory, recoverSession } from './recovery.ts';
import type { RecoveredSession } from './recovery.ts';
import { sessionEvent } from './session/session-event.ts';
import type { SessionStart, TurnContext } from './session/session-run.ts';
import { turnContext } from './turn-context.ts';
import { mayRepeat, notice, overtakenEnd, unfinishedEnd } from './turn-ends.ts';
import type { Decision, TurnEnd, TurnScope } from './turn-scope.ts';

/** Continues an orphan: with its model, or as a person decided. Null: it is committed. */
export async function* recover(
  scope: TurnScope,
  sessionId: string,
  decision: Decision | null,
): AsyncGenerator<RunEventBody, TurnEnd | null> {
  const { workspace, settings, writePlanTool } = scope.dependencies;
  const recovered = await recoverSession(workspace, sessionId, sessionSettingsOf(settings, null));
  const { handle, turn, commit } = recovered;
  writePlanTool.adopt(handle);
  let driven = false;
  try {
    scope.messages = decision === null ? recoveredHistory(recovered) : (turn?.messages ?? []);
    if (turn !== null) {
      scope.recovered = { sessionId, callId: turn.callId, identity: identityOf(turn) };
    }
    scope.begin(handle, turn?.callId ?? '');
    for (const note of recovered.notes) yield notice(note);
    if (commit.kind === 'happened') {
      driven = true;
      yield* concludeCommit(scope, recovered, commit.receipt);
      return null;
    }
    if (commit.kind === 'overtaken' && !settles(decision, recovered, commit.written)) {
      return yield* overtakenEnd(recovered, commit.written, scope);
    }
    // What was about to be written when the process died needs no model any more.
    const decided = decision ?? (commit.kind === 'not_happened' ? {} : null);
    const context = decided === null ? await recoveryContext(scope, recovered) : null;
    const start: SessionStart =
      decided === null ? { kind: 'recover' } : await finalizeStart(scope, handle, decided);
    const session =
      context === null
        ? recovered.session
        : { ...recovered.session, settings: sessionSettingsOf(settings, context.adapter) };
    driven = true;
    const outcome = yield* scope.drive(session, context, start, turn?.protocol);
    if (outcome.kind === 'aborted') return { status: 'incomplete' };
    if (outcome.kind !== 'committed') return yield* unfinishedEnd(outcome, handle, scope);
    scope.remember();
    return null;
  } finally {
    if (!driven) await handle.release();
  }
}

async function recoveryContext(scope: TurnScope, { turn }: RecoveredSession): Promise<TurnContext> {
  const { connect, writePlanTool, approval } = scope.dependencies;
  const { adapter } = await connect(turn === null ? null : identityOf(turn));
  return turnContext(scope, adapter, turn?.mode ?? 'act', (request) =>
    writePlanTool.begin(request, undefined, approval),
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
  { metadata }: SessionHandle,
  { answer, endAt, onConflict }: Decision,
): Promise<SessionStart> {
  const start: SessionStart = {
    kind: 'finalize',
    answer: endAt !== undefined ? { kind: 'end', line: endAt } : answer ? { kind: answer } : null,
  };
  const { workspace } = scope.dependencies;
  const { target_file, operation, session_id } = metadata;
  if (onConflict === undefined) return start;
  const isBeside = onConflict === 'keep-both';
  const name = isBeside ? besideName(target_file, session_id.slice(0, 4)) : target_file;
  // What is added to a file, or changed in it, goes into the file as it is now.
  const agreed = operation === 'create' ? 'overwrite' : operation;
  const target: FinalizeFacts['target'] = {
    operation: isBeside ? 'create' : agreed,
    expected: await workspace.checkTarget(name, isBeside ? 'create' : agreed),
  };
  return { ...start, target };
}

/** `docs/a.md` and `7f3a` make `docs/a.orion-7f3a.md`. */
function besideName(target: string, tag: string): string {
  const slash = target.lastIndexOf('/');
  const dot = target.lastIndexOf('.');
  if (dot <= slash + 1) return `${target}.orion-${tag}`;
  return `${target.slice(0, dot)}.orion-${tag}${target.slice(dot)}`;
}

import type { ProtocolContext, RunEventBody, SessionHandle, TurnRecord } from '@orion/contracts';
import { createReadFileTool, createToolRegistry } from '@orion/tool-runner';

import type { FinalizeRequest, ProviderIdentity } from '../orion.ts';
import { receiptMessage } from './receipt-message.ts';
import { recoveredHistory, recoverSession } from './recovery.ts';
import type { RecoveredSession } from './recovery.ts';
import type { SessionOutcome, SessionStart } from './session/session-run.ts';
import { lostEnd, mayRepeat, notice, overtakenEnd, pausedEnd } from './turn-ends.ts';
import type { TurnEnd, TurnScope } from './turn-scope.ts';

/** Goes on with an orphan. Null: it is committed. */
export async function* recover(
  scope: TurnScope,
  sessionId: string,
): AsyncGenerator<RunEventBody, TurnEnd | null> {
  const { workspace, sessionSettings, writePlanTool } = scope.dependencies;
  const recovered = await recoverSession(workspace, sessionId, sessionSettings(null));
  const { handle, turn, commit } = recovered;
  writePlanTool.adopt(handle);
  let driven = false;
  try {
    scope.messages = recoveredHistory(recovered);
    if (turn !== null) {
      scope.recovered = { sessionId, callId: turn.callId, identity: identityOf(turn) };
    }
    scope.begin(handle, turn?.callId ?? '');
    for (const note of recovered.notes) yield notice(note);
    if (commit.kind === 'happened') {
      driven = true;
      return yield* concludeCommit(scope, recovered, commit.receipt);
    }
    if (commit.kind === 'overtaken') return yield* overtakenEnd(recovered, commit.written, scope);
    const context = commit.kind === 'not_happened' ? null : await recoveryContext(scope, turn);
    const session =
      context === null
        ? recovered.session
        : { ...recovered.session, settings: sessionSettings(context.adapter) };
    driven = true;
    const start: SessionStart =
      commit.kind === 'not_happened' ? { kind: 'finalize', answer: null } : { kind: 'recover' };
    const outcome = yield* scope.drive(session, context, start, turn?.protocol);
    return yield* endRecovery(scope, recovered, outcome);
  } finally {
    if (!driven) await handle.release();
  }
}

async function recoveryContext(
  scope: TurnScope,
  turn: TurnRecord | null,
): Promise<Omit<ProtocolContext, 'messages'>> {
  const { protocolConfig, workspace, writePlanTool, trace, clock, patterns } = scope.dependencies;
  const { adapter } = await scope.dependencies.connect(turn === null ? null : identityOf(turn));
  // The same tools as in the turn that was interrupted, so that the provider's prompt cache holds.
  const registry = createToolRegistry(
    [createReadFileTool(workspace), writePlanTool.tool((request) => writePlanTool.begin(request))],
    { clock, patterns, redact: scope.dependencies.keys.redact },
  );
  const mode = turn?.mode ?? 'act';
  return {
    mode,
    projectId: scope.ids.projectId,
    requestId: scope.ids.requestId,
    adapter,
    toolRegistry: registry,
    traceService: trace,
    redact: scope.dependencies.keys.redact,
    config: protocolConfig(mode, adapter),
    turnState: scope.state,
    clock,
    signal: scope.signal,
  };
}

function identityOf({ provider, model, baseUrl }: TurnRecord): ProviderIdentity {
  return { provider, model, ...(baseUrl === undefined ? {} : { baseUrl }) };
}

async function* concludeCommit(
  scope: TurnScope,
  recovered: RecoveredSession,
  receipt: Extract<RecoveredSession['commit'], { kind: 'happened' }>['receipt'],
): AsyncGenerator<RunEventBody, TurnEnd | null> {
  const { handle, session } = recovered;
  scope.answerBegin(receiptMessage(receipt), 'closed');
  scope.remember();
  const { trailing, warnings } = await handle.remove();
  const whole = {
    ...receipt,
    ...(trailing === undefined ? {} : { trailing }),
    warnings: [...receipt.warnings, ...warnings],
  };
  yield {
    type: 'write_session',
    sessionId: handle.id,
    status: 'done',
    targetFile: handle.metadata.target_file,
    operation: handle.metadata.operation,
    bytes: session.summary.bytes,
    lines: session.summary.lineFeeds,
    durableBytes: session.summary.bytes,
    receipt: whole,
  };
  return null;
}

async function* endRecovery(
  scope: TurnScope,
  recovered: RecoveredSession,
  outcome: SessionOutcome,
): AsyncGenerator<RunEventBody, TurnEnd | null> {
  switch (outcome.kind) {
    case 'committed':
      scope.remember();
      return null;
    case 'paused':
      return yield* pausedEnd(outcome, scope);
    case 'aborted':
      return { status: 'incomplete' };
    case 'lost':
      return yield* lostEnd(recovered.handle);
    default:
      return outcome satisfies never;
  }
}

/** A person writes what is saved, without a model. */
export async function* finalizeByHand(
  scope: TurnScope,
  request: FinalizeRequest,
): AsyncGenerator<RunEventBody, TurnEnd> {
  const { workspace, sessionSettings, writePlanTool } = scope.dependencies;
  const recovered = await recoverSession(workspace, request.sessionId, sessionSettings(null));
  const { handle, commit } = recovered;
  writePlanTool.adopt(handle);
  let driven = false;
  try {
    if (recovered.turn !== null) {
      scope.messages = recovered.turn.messages;
      const { callId } = recovered.turn;
      scope.recovered = { sessionId: handle.id, callId, identity: identityOf(recovered.turn) };
    }
    scope.begin(handle, recovered.turn?.callId ?? '');
    for (const note of recovered.notes) yield notice(note);
    if (commit.kind === 'happened') {
      driven = true;
      return (yield* concludeCommit(scope, recovered, commit.receipt)) ?? { status: 'complete' };
    }
    if (commit.kind === 'overtaken') {
      const { written } = commit;
      const repeats =
        request.onConflict === 'overwrite' && written !== null && !mayRepeat(recovered);
      if (request.onConflict === undefined || repeats) {
        return yield* overtakenEnd(recovered, written, scope);
      }
    }
    const target = await conflictTarget(scope, handle, request.onConflict);
    driven = true;
    const outcome = yield* scope.drive(recovered.session, null, {
      kind: 'finalize',
      answer: answerOf(request),
      ...(target === undefined ? {} : { target }),
    });
    return (yield* endRecovery(scope, recovered, outcome)) ?? { status: 'complete' };
  } finally {
    if (!driven) await handle.release();
  }
}

/** What a person's decision about a changed target means for the commit. */
async function conflictTarget(
  scope: TurnScope,
  handle: SessionHandle,
  onConflict: FinalizeRequest['onConflict'],
): Promise<Extract<SessionStart, { kind: 'finalize' }>['target']> {
  const { workspace } = scope.dependencies;
  const { target_file, operation, session_id } = handle.metadata;
  switch (onConflict) {
    case undefined:
      return undefined;
    case 'overwrite': {
      // What is added to a file, or changed in it, goes into the file as it is now.
      const agreed = operation === 'create' ? 'overwrite' : operation;
      return { operation: agreed, expected: await workspace.checkTarget(target_file, agreed) };
    }
    case 'keep-both': {
      const name = besideName(target_file, session_id.slice(0, 4));
      return { operation: 'create', expected: await workspace.checkTarget(name, 'create') };
    }
    default:
      return onConflict satisfies never;
  }
}

function answerOf(request: FinalizeRequest): Extract<SessionStart, { kind: 'finalize' }>['answer'] {
  if (request.endAt !== undefined) return { kind: 'end', line: request.endAt };
  return request.answer === undefined ? null : { kind: request.answer };
}

/** `docs/a.md` and `7f3a` make `docs/a.orion-7f3a.md`. */
function besideName(target: string, tag: string): string {
  const slash = target.lastIndexOf('/');
  const dot = target.lastIndexOf('.');
  if (dot <= slash + 1) return `${target}.orion-${tag}`;
  return `${target.slice(0, dot)}.orion-${tag}${target.slice(dot)}`;
}

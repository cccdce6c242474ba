import { defined, OrionError, sleep } from '@orion/contracts';
import type { RunEventBody, ToolCall, TurnFence, Workspace, WriteReceipt } from '@orion/contracts';

import { sessionSettingsOf } from '../../config/derived-settings.ts';
import { untilStored } from '../../store/until-stored.ts';
import { abortedMessage, isUnwritten, pausedMessage, receiptMessage } from '../receipt-message.ts';
import { goOnWriting } from '../recovered-turn.ts';
import type { WritingEnd } from '../recovered-turn.ts';
import { recoverSession } from '../recovery.ts';
import type { RecoveredSession } from '../recovery.ts';
import { mayBeOfCall } from '../session-id.ts';
import type { BeginCall } from '../session-id.ts';
import type { TurnContext } from '../session/session-run.ts';
import type { TurnScope } from '../turn-scope.ts';
import { forgottenWrite } from './forgotten-write.ts';
import type { LeftSession } from './left-turn.ts';

/** An earlier owner that still runs is waited for so long, in milliseconds, and looked at so often. */
const OWNER_WAIT_MS = 12_000;
const OWNER_LOOK_MS = 200;
/** What a process needs at most to notice that a turn of its own has got another owner, or has gone; a second is usual. */
const HOLDER_WAIT_MS = 3_000;

/** Continues the write session that an earlier owner of the turn has opened by this call. */
export async function* continueSession(
  scope: TurnScope,
  context: TurnContext,
  call: ToolCall,
  left: LeftSession,
): AsyncGenerator<RunEventBody, WritingEnd> {
  const { sessionId, logged } = left;
  const { receipt, code, paused, status } = logged?.last ?? {};
  if (receipt !== undefined) {
    scope.answerClosed(call.id, receiptMessage(receipt));
    return { kind: 'committed', receipt };
  }
  if (status === 'aborted') {
    const reason = isUnwritten(code) ? code : 'ABORTED';
    scope.answerClosed(call.id, abortedMessage(reason));
    return { kind: 'aborted', code: reason };
  }
  if (paused !== undefined) {
    scope.answerClosed(call.id, pausedMessage(paused));
    scope.openSessionId = sessionId;
    const stopReason = paused.code === 'ABORTED' ? ('cancelled' as const) : undefined;
    return { kind: 'ended', end: { status: 'paused', ...defined({ stopReason }) } };
  }
  const recovered = await claim(scope, left);
  if (recovered === 'aborted') {
    return { kind: 'ended', end: { status: 'aborted', stopReason: 'cancelled' } };
  }
  if (recovered === 'forgotten') return yield* reportForgotten(scope, call, left);
  if ('written' in recovered) return yield* reportWritten(scope, call, left, recovered.written);
  return yield* goOnWriting(scope, recovered, {
    callId: call.id,
    events: mendProgress(recovered, logged?.bytes ?? 0),
    // Nothing is missing in what a person was asked about.
    decide: async () => ((await scope.owned?.approvals?.hasAsked(sessionId)) ? {} : null),
    context: () => Promise.resolve(context),
  });
}

/**
 * Makes room for a begin whose owner lost the turn before anybody was told of its session. One that is empty goes; what
 * the owner had of the text, while the store was away, is put away: the model is asked for all of it. Rejects with
 * SESSION_BUSY if that owner is still at it.
 */
export async function removeUnreported(
  { sessions }: Pick<Workspace, 'sessions'>,
  { fence, ...call }: BeginCall & { readonly fence?: TurnFence },
): Promise<void> {
  for (const { session_id: id, status } of await sessions.list('all', mayBeOfCall(call))) {
    // With its fence a turn takes back what it has claimed and heard no answer about.
    if (status !== 'orphan' && (status !== 'live' || fence === undefined)) continue;
    const turn = await sessions.readTurn(id);
    if (turn?.requestId !== call.requestId || turn.callId !== call.callId) continue;
    // Its owner may be removing it itself. And if another session has the target, the begin that follows says so.
    const claimed = await sessions.claim(id, fence).catch((error: unknown) => {
      if (!isNotFound(error) && !isTargetLocked(error)) throw error;
    });
    if (claimed === undefined) continue;
    const { handle, writing } = claimed;
    if (writing !== null) await handle.release();
    else if (handle.bytes() === 0) await handle.remove();
    else await handle.discard();
  }
}

/** What the store has of a session; `written` of one that has gone after its commit, and `forgotten` of any other. */
type Found = RecoveredSession | { readonly written: WriteReceipt } | 'forgotten';

/** `aborted` if the turn was before the session was free. */
async function claim(scope: TurnScope, left: LeftSession): Promise<Found | 'aborted'> {
  const { workspace, settings, ownership } = scope.dependencies;
  const { sessionId, receipt } = left;
  const fence = ownership.fence ?? undefined;
  const find = async (): Promise<Found> => {
    try {
      return await recoverSession(workspace, sessionId, sessionSettingsOf(settings, null), fence);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      const written = receipt ?? (await forgottenWrite(workspace, sessionId));
      if (written !== null) return { written };
      // It was written, and somebody has changed the file since: to write it again would add it twice, or replace that.
      if ((await workspace.findChangedFile(sessionId)) !== null) throw error;
      return 'forgotten';
    }
  };
  try {
    return await untilFree(scope, find);
  } catch (error) {
    if (scope.signal.aborted) return 'aborted';
    throw error;
  }
}

/**
 * Waits for a store that is away, for an owner that has not noticed yet, and for another session that has begun the file
 * meanwhile; then the turn is given back.
 */
export async function untilFree<Result>(
  scope: TurnScope,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const { clock } = scope.dependencies;
  try {
    return await whileHeld(scope, OWNER_WAIT_MS, () => untilStored(clock, scope.signal, attempt));
  } catch (error) {
    if (!scope.signal.aborted && isBusy(error)) {
      const { message } = error;
      // Whoever runs turns tries one again whose session is busy.
      scope.owned?.giveBack(new OrionError({ code: 'SESSION_BUSY', message, cause: error }));
    }
    throw error;
  }
}

/**
 * Begins a file that another session may hold for a moment more: its turn is over, or a failover to a standby that was
 * behind has taken it back, and its process has not noticed yet.
 */
export function beginHeld<Result>(
  scope: TurnScope,
  attempt: () => Promise<Result>,
): Promise<Result> {
  return whileHeld(scope, scope.owned === null ? 0 : HOLDER_WAIT_MS, attempt);
}

async function whileHeld<Result>(
  { dependencies: { clock }, signal }: TurnScope,
  limitMs: number,
  attempt: () => Promise<Result>,
): Promise<Result> {
  const until = clock.monotonic() + limitMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted || !isBusy(error) || clock.monotonic() >= until) throw error;
    }
    await sleep(clock, OWNER_LOOK_MS, signal);
  }
}

function isNotFound(error: unknown): boolean {
  return OrionError.isInstance(error) && error.code === 'SESSION_NOT_FOUND';
}

function isBusy(error: unknown): error is OrionError {
  return (
    (OrionError.isInstance(error) && error.code === 'SESSION_BUSY') ||
    // What is no lock is released by nobody.
    (isTargetLocked(error) && error.details['file'] === undefined)
  );
}

function isTargetLocked(error: unknown): error is OrionError {
  return OrionError.isInstance(error) && error.code === 'TARGET_LOCKED';
}

/** The turn goes on: after a failover to a standby that was behind, its model may begin the file again. */
function* reportForgotten(
  scope: TurnScope,
  call: ToolCall,
  { logged }: LeftSession,
): Generator<RunEventBody, WritingEnd> {
  const code = 'SESSION_NOT_FOUND';
  scope.answerClosed(call.id, abortedMessage(code));
  const { last = null } = logged ?? {};
  if (last !== null) {
    const { sessionId, targetFile, operation } = last;
    const nothing = { bytes: 0, lines: 0, durableBytes: 0 };
    const said = { sessionId, targetFile, operation, ...nothing };
    yield { type: 'write_session', status: 'aborted', code, ...said };
  }
  return { kind: 'aborted', code };
}

/** Logs the receipt of a file whose owner could not do it any more. */
async function* reportWritten(
  scope: TurnScope,
  call: ToolCall,
  { sessionId, logged }: LeftSession,
  receipt: WriteReceipt,
): AsyncGenerator<RunEventBody, WritingEnd> {
  const { target_file: targetFile, operation } = receipt;
  scope.answerClosed(call.id, receiptMessage(receipt));
  // The log may have been taken back to where the text was not all there yet.
  const bytes = Math.max(logged?.last?.bytes ?? 0, receipt.bytes);
  const lines = Math.max(logged?.last?.lines ?? 0, receipt.lines);
  yield {
    type: 'write_session',
    sessionId,
    status: 'done',
    targetFile,
    operation,
    bytes,
    lines,
    durableBytes: bytes,
    receipt,
  };
  return { kind: 'committed', receipt };
}

/** The disk has more of the text than the events say, or less. */
function* mendProgress(
  { handle: { id: sessionId }, session }: RecoveredSession,
  logged: number,
): Generator<RunEventBody, void> {
  const { bytes } = session.summary;
  if (bytes < logged) yield { type: 'write_rewind', sessionId, toOffset: bytes };
  if (bytes > logged) {
    yield { type: 'write_chunk', sessionId, offset: logged, length: bytes - logged, content: null };
  }
}

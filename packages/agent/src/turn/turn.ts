import type { ErrorInfo, RunEvent, RunEventBody } from '@orion/contracts';
import { defined, toErrorInfo, TurnText } from '@orion/contracts';
import { limitUse } from '@orion/protocols';

import { actionWords } from '../approvals/shown-change.ts';
import { redactEvents } from '../keys/redacted-events.ts';
import { Interruptible, settlesWithin } from '../store/deadline.ts';
import type { TurnWriter } from '../store/turn-writer.ts';
import { answer } from './answered-turn.ts';
import { eventStamper } from './event-stamper.ts';
import { joinText } from './join-text.ts';
import type { PlacedEvent } from './join-text.ts';
import { recover } from './recovered-turn.ts';
import { notice } from './turn-ends.ts';
import type { TurnEnd, TurnScope, TurnTask } from './turn-scope.ts';
import type { CheckpointDraft, TurnStep } from './turn-step.ts';

/** What is under way keeps a turn from being handed off for so long, in milliseconds. */
const LEAVE_MS = 500;
/** The part of that which the store gets for the answer of a call that has run. */
const ANSWER_MS = 300;

/**
 * One turn: the loop around the protocol.
 *
 * Invariants
 * U1  Exactly one `done`, last, on every path, but for a turn that is handed off: its next owner ends it.
 * U2  A session that a tool opened is driven to its outcome, or given back when the turn ends before that.
 * U3  The history that goes to a provider is valid at every moment: each call has its tool message.
 * U4  An event that changes the disk is in the turn log before the change, unless the log fails or is slower than it
 *     usually is (`StoreHealth`); its outcome after. An owned turn waits as long as it takes.
 * U5  A turn that is lost stops at once: nothing of it is recorded, kept or shown any more, and its reader gets the
 *     reason.
 * U6  A turn that is handed off leaves what another owner needs, and has no effect after that. What a call that
 *     had begun was answered with is part of it, unless the store takes too long.
 *
 * `leave` aborts what the turn does, for a reader that goes away while something is under way.
 */
export async function* runTurn(
  scope: TurnScope,
  task: TurnTask,
  writer: TurnWriter,
  leave: () => void,
): AsyncGenerator<RunEvent, void> {
  const { protocol, protocolReason, trace, clock, keys, asides } = scope.dependencies;
  const { owned } = scope;
  const logged = owned?.left?.logged;
  const ids = { ...scope.ids, protocol: protocol.getName() };
  const stamp = eventStamper(ids, writer.lastSeq, logged?.phase);
  const text = logged?.text ?? new TurnText();
  const cycle = (): number => scope.state.cycleIndex;
  let lastSeq = writer.lastSeq;
  const record = (body: RunEventBody, cycleIndex = cycle(), draft?: CheckpointDraft): RunEvent => {
    const event = stamp(body, cycleIndex);
    ({ seq: lastSeq } = event);
    text.add(event);
    traceApproval(scope, event);
    writer.note(event, draft && owned?.checkpoints.place(draft, event.seq));
    owned?.checkpoints.note(event);
    return event;
  };
  const storeNotice = (): RunEvent | null => {
    // An owned turn waits for its store, and what happens to that may be of another turn.
    const message = owned === null ? scope.dependencies.takeStoreNotice() : null;
    return message === null ? null : record(notice(message));
  };
  const handOff = new Interruptible(owned?.handOff ?? null);
  let end: TurnEnd | null = null;
  /** Of the event that follows; null once that is recorded. */
  let storing: Promise<CheckpointDraft> | null = null;
  let draft: CheckpointDraft | undefined;
  scope.trace('turn_started', {
    task: task.kind,
    protocol: protocol.getName(),
    reason: protocolReason,
  });
  const body = task.kind === 'message' ? answer(scope, task) : recoverOnly(scope, task);
  const paced = { clock, pace: writer.pace };
  const events = joinText(redactEvents(body, keys), paced, cycle, leave, asides);
  /** What is asked for, and was not taken. */
  let upcoming: Promise<IteratorResult<PlacedEvent, TurnEnd>> | null = null;
  /**
   * The event with the answer to a call that had begun, where the hand-off came before it was recorded, and its draft.
   * What is answered later is not kept: it may say so only because of the hand-off.
   */
  const lastAnswer = async () => {
    const stored = await storing;
    if (stored === null || owned?.checkpoints.answersBegun(stored) !== true) return null;
    const { done, value } = await (upcoming ?? events.next());
    if (done === true || value.event.type === 'checkpoint') return null;
    return { event: value.event, cycleIndex: value.cycleIndex, draft: stored };
  };
  try {
    while (!handOff.isAborted) {
      upcoming = events.next();
      const next = await handOff.wait(upcoming);
      writer.lost.throwIfAborted();
      if (next === null || handOff.isAborted) break;
      upcoming = null;
      if (next.done === true) {
        end = next.value;
        break;
      }
      const { event, cycleIndex } = next.value;
      if (event.type === 'checkpoint') {
        storing = event.store();
        draft = (await handOff.wait(storing)) ?? undefined;
        continue;
      }
      const recorded = record(event, cycleIndex, draft);
      draft = undefined;
      storing = null;
      // The log is written while the event is shown.
      const stored = precedesEffect(event) ? writer.settled() : writer.room();
      yield recorded;
      if (stored !== null) await handOff.wait(stored);
      const news = storeNotice();
      if (news !== null) yield news;
    }
  } catch (error) {
    writer.lost.throwIfAborted();
    if (!handOff.isAborted) {
      const { message, ...rest } = toErrorInfo(error);
      const info: ErrorInfo = { ...rest, message: keys.redact(message) };
      trace.record({ type: 'error_occurred', ...scope.traceIds(), error: info });
      yield record({ type: 'error', error: info });
      end = { status: 'error' };
    }
  } finally {
    handOff.end();
    const leaveBy = clock.monotonic() + LEAVE_MS;
    if (handOff.isAborted) {
      const asked = lastAnswer().catch(() => null);
      const last = (await settlesWithin(clock, ANSWER_MS, asked)) ? await asked : null;
      if (last !== null) record(last.event, last.cycleIndex, last.draft);
    }
    const ended = events.return({ status: 'aborted' });
    if (owned === null || !handOff.isAborted) await ended;
    else if (!(await settlesWithin(clock, leaveBy - clock.monotonic(), ended)) && scope.isWriting) {
      owned.linger(ended);
    }
    // An owned turn ends with its conversation, or goes on in another process.
    if (writer.fence === null) scope.remember();
    const { status, stopReason } = end ?? { status: owned === null ? 'aborted' : 'handed_off' };
    const isLost = writer.lost.aborted ? { lost: true } : {};
    const limits = limitUse(scope.state, scope.dependencies.protocolConfig, scope.elapsed());
    scope.trace('turn_ended', { status, stopReason: stopReason ?? null, limits, ...isLost });
    if (end === null) {
      if (owned === null) {
        // The reader has left, but the log must show that the turn is over.
        record(doneOf({ status: 'aborted' }, text, protocolReason));
      } else {
        const rewind = owned.checkpoints.handOff(scope, lastSeq);
        if (rewind !== null) record(rewind.event, cycle(), rewind.draft);
        await writer.leave();
      }
    }
  }
  if (end === null) return;
  await Promise.all([writer.settled(), scope.dependencies.conversations.settled()]);
  const news = storeNotice();
  if (news !== null) yield news;
  const done = stamp(doneOf(end, text, protocolReason), cycle());
  await writer.conclude(done, scope.conversation());
  yield done;
}

async function* recoverOnly(
  scope: TurnScope,
  { sessionId, decision }: Exclude<TurnTask, { kind: 'message' }>,
): AsyncGenerator<TurnStep, TurnEnd> {
  return (yield* recover(scope, sessionId, decision)) ?? { status: 'complete' };
}

/**
 * Calls may begin a session, and what follows `finalizing` changes the target. Other news of a session is not waited
 * for: text keeps arriving behind it.
 */
function precedesEffect(event: RunEventBody): boolean {
  return (
    event.type === 'tool_calls' ||
    (event.type === 'write_session' && event.status === 'session_active.finalizing')
  );
}

/** What people are asked is traced as it is reported: once, whoever owns the turn then. */
function traceApproval(scope: TurnScope, event: RunEvent): void {
  if (event.type === 'approval_requested') {
    const { approvalId, action, hash, callId, sessionId } = event;
    const details = { approvalId, kind: action.kind, hash, ...defined({ callId, sessionId }) };
    scope.trace(event.type, details, actionWords(action));
  }
  if (event.type === 'approval_decided') {
    const { approvalId, decision, reason } = event;
    scope.trace(event.type, { approvalId, decision, ...defined({ reason }) }, decision);
  }
}

function doneOf(end: TurnEnd, text: TurnText, protocolReason: string): RunEventBody {
  const { status, stopReason } = end;
  const fullContent = text.toString();
  return { type: 'done', fullContent, status, protocolReason, ...defined({ stopReason }) };
}

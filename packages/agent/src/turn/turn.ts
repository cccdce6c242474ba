import type { ErrorInfo, RunEvent, RunEventBody } from '@orion/contracts';
import { defined, toErrorInfo } from '@orion/contracts';

import { redactEvents } from '../keys/redacted-events.ts';
import type { TurnWriter } from '../store/turn-writer.ts';
import { answer } from './answered-turn.ts';
import { eventStamper } from './event-stamper.ts';
import { joinText } from './join-text.ts';
import { recover } from './recovered-turn.ts';
import { notice } from './turn-ends.ts';
import type { TurnEnd, TurnScope, TurnTask } from './turn-scope.ts';

/**
 * One turn: the loop around the protocol.
 *
 * Invariants
 * U1  Exactly one `done`, last, on every path.
 * U2  A session that a tool opened is driven to its outcome, or given back when the turn ends before that.
 * U3  The history that goes to a provider is valid at every moment: each call has its tool message.
 * U4  An event that changes the disk is in the turn log before the change, unless the log fails or is slower than it
 *     usually is (`StoreHealth`); its outcome after. An owned turn waits as long as it takes.
 * U5  A turn that is lost stops at once: nothing of it is recorded, kept or shown any more, and its reader gets the
 *     reason.
 *
 * `leave` aborts what the turn does, for a reader that goes away while something is under way.
 */
export async function* runTurn(
  scope: TurnScope,
  task: TurnTask,
  writer: TurnWriter,
  leave: () => void,
): AsyncGenerator<RunEvent, void> {
  const { protocol, protocolReason, trace, clock, keys } = scope.dependencies;
  const stamp = eventStamper({ ...scope.ids, protocol: protocol.getName() }, writer.lastSeq);
  const cycle = (): number => scope.state.cycleIndex;
  const record = (body: RunEventBody, cycleIndex = cycle()): RunEvent => {
    const event = stamp(body, cycleIndex);
    writer.note(event);
    return event;
  };
  function* storeNotices(): Generator<RunEvent, void> {
    const message = scope.dependencies.takeStoreNotice();
    if (message !== null) yield record(notice(message));
  }
  const parts: string[] = [];
  let end: TurnEnd | null = null;
  scope.trace('turn_started', {
    task: task.kind,
    protocol: protocol.getName(),
    reason: protocolReason,
  });
  const body = task.kind === 'message' ? answer(scope, task) : recoverOnly(scope, task);
  const events = joinText(redactEvents(body, keys), clock, cycle, leave);
  try {
    for (;;) {
      const next = await events.next();
      writer.lost.throwIfAborted();
      if (next.done === true) {
        end = next.value;
        break;
      }
      const { event, cycleIndex } = next.value;
      if (event.type === 'chunk' && event.source === 'model') parts.push(event.content);
      const recorded = record(event, cycleIndex);
      // The log is written while the event is shown.
      const stored = precedesEffect(event) ? writer.settled() : writer.room();
      yield recorded;
      if (stored !== null) await stored;
      yield* storeNotices();
    }
  } catch (error) {
    writer.lost.throwIfAborted();
    const { message, ...rest } = toErrorInfo(error);
    const info: ErrorInfo = { ...rest, message: keys.redact(message) };
    trace.record({ type: 'error_occurred', ...scope.traceIds(), error: info });
    yield record({ type: 'error', error: info });
    end = { status: 'error' };
  } finally {
    await events.return({ status: 'aborted' });
    // An owned turn ends with its conversation, or goes on in another process.
    if (writer.fence === null) scope.remember();
    const { status, stopReason } = end ?? { status: 'aborted' };
    const isLost = writer.lost.aborted ? { lost: true } : {};
    scope.trace('turn_ended', { status, stopReason: stopReason ?? null, ...isLost });
    // The reader has left, but the log must show that the turn is over.
    if (end === null && writer.fence === null) {
      record(doneOf({ status: 'aborted' }, parts, protocolReason));
    }
  }
  await Promise.all([writer.settled(), scope.dependencies.conversations.settled()]);
  yield* storeNotices();
  const done = stamp(doneOf(end, parts, protocolReason), cycle());
  await writer.conclude(done, scope.conversation());
  yield done;
}

async function* recoverOnly(
  scope: TurnScope,
  { sessionId, decision }: Exclude<TurnTask, { kind: 'message' }>,
): AsyncGenerator<RunEventBody, TurnEnd> {
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

function doneOf(end: TurnEnd, parts: readonly string[], protocolReason: string): RunEventBody {
  const { status, stopReason } = end;
  const fullContent = parts.join('');
  return { type: 'done', fullContent, status, protocolReason, ...defined({ stopReason }) };
}

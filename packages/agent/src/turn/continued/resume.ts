import type { Message, PendingCalls, RunEventBody } from '@orion/contracts';

import type { TurnScope } from '../turn-scope.ts';
import { restoreState } from './checkpoint.ts';
import { interrupted } from './left-turn.ts';
import type { LeftTurn } from './left-turn.ts';

/**
 * The model is asked for the same message by at most so many owners more, if it began to answer each of them and none
 * completes it. Where it said nothing, attempts are counted by whoever hands them out.
 */
const MAX_REWINDS = 3;
/** A token is about four characters, where nobody has counted them. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * Puts the turn back to its checkpoint. What was spent since counts; what the model said since is void. Throws
 * TURN_INTERRUPTED for a turn that cannot, or can no more, be continued.
 */
export function* resume(scope: TurnScope, left: LeftTurn): Generator<RunEventBody, void> {
  const { logged, checkpoint, pending, messages, damage } = left;
  const { since } = logged;
  if (damage !== null) throw damage;
  if (checkpoint !== null) {
    const answered = pending === null ? messages : [...messages, ...answersOf(pending)];
    Object.assign(scope.state, restoreState(checkpoint.state, answered));
  }
  const { protocol, content } = scope.state.spent;
  if (pending === null) {
    protocol.calls += since.requests;
    protocol.tokens += Math.ceil(since.characters / CHARACTERS_PER_TOKEN);
    protocol.milliseconds += since.milliseconds;
  }
  content.tokens += Math.ceil(since.contentBytes / CHARACTERS_PER_TOKEN);
  scope.begunBefore((checkpoint?.elapsedMs ?? 0) + since.milliseconds);
  scope.trace('turn_continued', { events: since.events, rewinds: since.rewinds });
  if (pending !== null || since.events === 0) return;
  if (since.hasCalls) {
    throw interrupted('The protocol does not report how far its calls have come.');
  }
  if (!since.hasText) return;
  if (since.rewinds >= MAX_REWINDS) {
    throw interrupted(`It was taken over ${since.rewinds} times within one message of the model.`);
  }
  yield { type: 'rewind', toSeq: checkpoint?.seq ?? 0 };
}

function answersOf({ progress }: PendingCalls): readonly Message[] {
  return progress.flatMap((one) => (one.kind === 'answered' ? [one.answer] : []));
}

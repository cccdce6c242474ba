import type { InvalidPlace, TextCorrection } from '@orion/contracts';

import { correctionsOf, emptyReply, readCorrections } from '../../validation/correction-reply.ts';
import type { MessageEnd } from '../session.ts';
import type { Step } from '../step.ts';

/** The content is no valid text: the model is asked, or what is invalid is replaced. */
export function correctionsNeeded(
  step: Step,
  places: readonly InvalidPlace[],
  count: number,
): void {
  const repair = step.session.repair ?? { found: count, rounds: [], replace: false };
  step.update({ invalidPlaces: places, repair });
  step.dispatch({
    type: 'finalize_needs_corrections',
    round: repair.rounds.length,
    attended: step.session.byHand === 'no',
  });
}

export function readCorrectionText(step: Step, text: string): void {
  const { reading, invalidPlaces } = step.session;
  const before = reading.kind === 'corrections' ? reading.reply : emptyReply;
  step.update({
    reading: { kind: 'corrections', reply: readCorrections(before, text, invalidPlaces) },
  });
  step.dispatch({ type: 'text' });
}

/** The end of a reply, which is the end of its round. Only a whole reply is used. */
export function endCorrectionReply(step: Step, end: MessageEnd): void {
  const { reading, invalidPlaces } = step.session;
  step.update({ reading: { kind: 'none' } });
  switch (end.kind) {
    case 'stop': {
      step.dispatch({ type: 'message_end_open' });
      const reply = reading.kind === 'corrections' ? reading.reply : emptyReply;
      const corrections = correctionsOf(reply, invalidPlaces);
      endRound(step, corrections);
      step.dispatch({
        type: corrections.length > 0 ? 'correction_usable' : 'correction_unusable',
      });
      return;
    }
    case 'length':
      endRound(step, []);
      step.dispatch({ type: 'message_end_length', progress: false });
      return;
    case 'error':
      endRound(step, []);
      step.dispatch({
        type: 'stream_error',
        code: end.code,
        retryable: end.retryable,
        afterDone: false,
        progress: false,
      });
      return;
    default:
      end satisfies never;
  }
}

/** Notes what a round gave, so that neither a crash nor a pause gives it back. */
export function endRound(step: Step, corrections: readonly TextCorrection[]): void {
  const { repair } = step.session;
  if (repair === null) throw new Error('a round ended although nothing invalid was found');
  step.update({ repair: { ...repair, rounds: [...repair.rounds, corrections] } });
}

import type { InvalidPlace, TextCorrection } from '@orion/contracts';

import { correctionsOf, emptyReply, readCorrections } from '../../validation/correction-reply.ts';
import { NOT_READING } from '../session.ts';
import type { WriteSession } from '../session.ts';
import type { Step } from '../step.ts';

const ASKED: Readonly<Record<WriteSession['byHand'], 'model' | 'program' | 'nobody'>> = {
  no: 'model',
  uploaded: 'program',
  answered: 'nobody',
  decided: 'nobody',
};

/** The content is not valid text: the model corrects it, or invalid places are replaced. */
export function correctionsNeeded(
  step: Step,
  { places, count }: { readonly places: readonly InvalidPlace[]; readonly count: number },
): void {
  const repair = step.session.repair ?? { found: count, rounds: [], replace: false };
  step.update({ repair });
  step.dispatch({
    type: 'finalize_needs_corrections',
    places,
    round: repair.rounds.length,
    asked: ASKED[step.session.byHand],
  });
}

export function readCorrectionText(step: Step, text: string): void {
  const { reading } = step.session;
  if (reading.kind !== 'corrections') return;
  const reply = readCorrections(reading.reply, text, placesOf(step));
  step.update({ reading: { ...reading, reply } });
}

/** The reply has ended; only a whole reply is used. */
export function endCorrectionReply(step: Step): void {
  const { reading } = step.session;
  const reply = reading.kind === 'corrections' ? reading.reply : emptyReply;
  const corrections = correctionsOf(reply, placesOf(step));
  step.dispatch(
    corrections.length > 0
      ? { type: 'correction_usable', corrections }
      : { type: 'correction_unusable' },
  );
}

function placesOf({ session: { control } }: Step): readonly InvalidPlace[] {
  return control.kind === 'needs_corrections' ? control.places : [];
}

/** Records the result of a round, so that neither a crash nor a pause repeats it. */
export function endRound(step: Step, corrections: readonly TextCorrection[]): void {
  const { repair } = step.session;
  if (repair === null) throw new Error('a round ended although nothing invalid was found');
  step.update({
    reading: NOT_READING,
    repair: { ...repair, rounds: [...repair.rounds, corrections] },
  });
}

import { mayBeHeldBack, mayBeUndecided } from '../measure/held-back.ts';
import { measureLoss } from '../measure/loss.ts';
import type { Loss } from '../measure/loss.ts';
import type { StreamShape } from '../shapes.ts';
import type { Kill } from './stream-and-kill.ts';

export type SavedText = {
  readonly loss: Loss | null;
  readonly heldBack: boolean;
  readonly failures: readonly string[];
};

/** Whether what a killed command saved is a beginning of the document, and long enough. */
export function checkSavedText(
  document: string,
  saved: Buffer,
  kill: Kill,
  shape: StreamShape,
): SavedText {
  const broken = (problem: string): SavedText => ({
    loss: null,
    heldBack: false,
    failures: [`what was saved (${saved.length} bytes) ${problem}`],
  });
  if (!Buffer.from(document).subarray(0, saved.length).equals(saved)) {
    return broken("is not the document's beginning");
  }
  const text = saved.toString('utf8');
  if (!Buffer.from(text).equals(saved)) return broken('ends inside a code point');
  const loss = measureLoss({ document, saved, ...kill });
  const { overdueText } = loss;
  if (overdueText === '') return { loss, heldBack: false, failures: [] };
  const heldBack =
    mayBeHeldBack(document, text.length, overdueText) ||
    (shape.faults !== undefined && mayBeUndecided(overdueText));
  return { loss, heldBack, failures: heldBack ? [] : [describeLoss(loss)] };
}

function describeLoss({ certainAgeMs, allowedMs, overdueText }: Loss): string {
  return (
    `lost text had been read ${Math.round(certainAgeMs)} ms before the kill ` +
    `(allowed: ${Math.round(allowedMs)}): ${Buffer.byteLength(overdueText)} bytes`
  );
}

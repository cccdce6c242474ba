import { OrionError } from '@orion/contracts';
import type { ByteSource, InvalidPlace, TextCorrection, TextRepair } from '@orion/contracts';

import { MAX_CORRECTION_PLACES } from '../write-session/control.ts';
import { findInvalidPlaces } from './invalid-places.ts';
import { repairedText } from './repaired-text.ts';

/** What a program writes in the place of a sequence that is not valid text, by the number of the place. */
export type CorrectionAnswer = { readonly index: number; readonly text: string };

/**
 * The round of corrections that these answers make, for the places that the text has after the rounds before. Rejects
 * with USAGE if one of them does not answer a place, or is itself not valid text.
 */
export async function answeredCorrections(
  text: ByteSource,
  repair: TextRepair,
  answers: readonly CorrectionAnswer[],
): Promise<readonly TextCorrection[]> {
  const { places } = await findInvalidPlaces(repairedText(text, repair), MAX_CORRECTION_PLACES);
  return correctionsFrom(answers, places);
}

/** In the order of the text. */
export function correctionsFrom(
  answers: readonly CorrectionAnswer[],
  places: readonly InvalidPlace[],
): readonly TextCorrection[] {
  const texts = new Map<number, string>();
  for (const { index, text } of answers) {
    if (index > places.length || index < 1) throw wrong(index, 'no such place was reported');
    if (texts.has(index)) throw wrong(index, 'it is there twice');
    if (!text.isWellFormed() || text.includes('\0')) throw wrong(index, 'its text is not valid');
    texts.set(index, text);
  }
  return places.flatMap(({ index, byte_offset: start, byte_length: length }) => {
    const text = texts.get(index);
    return text === undefined ? [] : [{ start, end: start + length, text }];
  });
}

function wrong(index: number, why: string): OrionError {
  return new OrionError({
    code: 'USAGE',
    message: `The correction ${index} cannot be used: ${why}.`,
  });
}

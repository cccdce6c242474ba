import type { ByteSource, InvalidPlace, TextRepair, ValidationSummary } from '@orion/contracts';

import { MAX_CORRECTION_PLACES, MAX_CORRECTION_ROUNDS } from '../write-session/control.ts';
import { correctionsPrompt } from '../write-session/text/prompts.ts';
import { findInvalidPlaces, MAX_LISTED_PLACES } from './invalid-places.ts';
import type { HiddenCharacters } from './hidden-characters.ts';
import type { TextReport } from './invalid-places.ts';
import type { Omission } from './omissions.ts';
import { repairedText } from './repaired-text.ts';
import { unreadableText } from './validated-text.ts';

/** The text of a session is not valid: what to ask the model, or whoever finalizes it. */
export type NeedsCorrections = {
  readonly session_id: string;
  readonly success: false;
  readonly stage: 'needs_corrections';
  readonly target_file: string;
  /** The first invalid places; the others follow once these are corrected. */
  readonly invalid_contexts: readonly InvalidPlace[];
  readonly invalid_count: number;
  readonly prompt: string;
  /** Counted from 1. */
  readonly attempt: number;
  readonly max_attempts: number;
};

/** Rejects with VALIDATION_FAILED if the text cannot be read. */
export async function describeInvalid(options: {
  readonly sessionId: string;
  readonly target: string;
  readonly text: ByteSource;
  readonly repair: TextRepair | null;
}): Promise<NeedsCorrections> {
  const { sessionId, target, text, repair } = options;
  const { places, count } = await scanned(text, MAX_CORRECTION_PLACES, target);
  return {
    session_id: sessionId,
    success: false,
    stage: 'needs_corrections',
    target_file: target,
    invalid_contexts: places,
    invalid_count: count,
    prompt: correctionsPrompt({ target, places }),
    attempt: (repair?.rounds.length ?? 0) + 1,
    max_attempts: MAX_CORRECTION_ROUNDS,
  };
}

/** The places that the repair replaces. `text` is the saved text, before any repair. */
export async function replacedPlaces(
  text: ByteSource,
  repair: TextRepair | null,
  target: string,
): Promise<ReplacedPlaces> {
  if (repair?.replace !== true) return { count: 0, places: [] };
  return await scanned(
    repairedText(text, { ...repair, replace: false }),
    MAX_LISTED_PLACES,
    target,
  );
}

export type ReplacedPlaces = Pick<TextReport, 'count' | 'places'>;

export function summarizeValidation(options: {
  readonly textBytes: number;
  readonly repair: TextRepair | null;
  readonly replaced: ReplacedPlaces;
  readonly omissions: readonly Omission[];
  readonly hidden: HiddenCharacters;
  /** Line feeds of the file before the text. */
  readonly linesBefore: number;
  readonly writtenBytes: number;
}): ValidationSummary {
  const { textBytes, repair, replaced, omissions, hidden, linesBefore, writtenBytes } = options;
  const inFile = <Place extends { readonly line: number }>(place: Place): Place => ({
    ...place,
    line: place.line + linesBefore,
  });
  const isReplaced = replaced.count > 0;
  return {
    attempts: repair?.rounds.length ?? 0,
    invalid_found: repair?.found ?? 0,
    corrected: repair?.rounds.reduce((sum, round) => sum + round.length, 0) ?? 0,
    replaced: replaced.count,
    used_safe_replacement: isReplaced,
    ...(isReplaced && { replaced_at: replaced.places.map(placeOf).map(inFile) }),
    ...(omissions.length > 0 && {
      omission_suspected: omissions.map((omission) => inFile(omission).line),
    }),
    ...(hidden.count > 0 && {
      hidden_characters: hidden.count,
      hidden_at: hidden.places.map(inFile),
    }),
    original_length: textBytes,
    final_length: writtenBytes,
  };
}

function placeOf({ line, column, byte_offset }: InvalidPlace) {
  return { line, column, byte_offset };
}

async function scanned(text: ByteSource, limit: number, target: string): Promise<TextReport> {
  try {
    return await findInvalidPlaces(text, limit);
  } catch (error) {
    throw unreadableText(target, error);
  }
}

import type { InvalidPlace, TextCorrection } from '@orion/contracts';
import { withoutTokensAtEnd } from '../write-session/text/chat-tokens.ts';

/**
 * Reads the reply to a question about invalid places (prompt P9): lines `#<n>: <replacement>`.
 *
 * Invariants
 * R1  The corrections do not depend on how the reply is divided.
 * R2  No more of a reply is held than one line, and one replacement for each place.
 * R3  A replacement is valid text; a line with an invalid one is ignored.
 */
export type CorrectionReply = {
  /** The incomplete line; null once it is too long to be an answer. */
  readonly line: string | null;
  /** By the number of the place; the last answer for a number counts. */
  readonly answers: ReadonlyMap<number, string>;
};

export const emptyReply: CorrectionReply = { line: '', answers: new Map() };

/** Longer lines are ignored. */
const MAX_LINE = 4096;
const ANSWER = /^[ \t]*#(\d{1,4})(?: \(line \d+\))?: ?([^]*)$/u;

export function readCorrections(
  reply: CorrectionReply,
  text: string,
  places: readonly InvalidPlace[],
): CorrectionReply {
  const lines = text.split('\n');
  let { line, answers } = reply;
  for (const [index, piece] of lines.entries()) {
    if (index > 0) {
      answers = withAnswer(answers, line, places);
      line = '';
    }
    line = line === null || line.length + piece.length > MAX_LINE ? null : line + piece;
  }
  return { line, answers };
}

/** The corrections of the whole reply, in the order of the text; empty if no line of it can be used. */
export function correctionsOf(
  reply: CorrectionReply,
  places: readonly InvalidPlace[],
): readonly TextCorrection[] {
  const answers = withAnswer(reply.answers, reply.line, places);
  return places.flatMap((place) => {
    const text = answers.get(place.index);
    if (text === undefined) return [];
    return [{ start: place.byte_offset, end: place.byte_offset + place.byte_length, text }];
  });
}

function withAnswer(
  answers: ReadonlyMap<number, string>,
  line: string | null,
  places: readonly InvalidPlace[],
): ReadonlyMap<number, string> {
  const match = line === null ? null : ANSWER.exec(line);
  const place = places.find(({ index }) => index === Number(match?.[1]));
  if (match === null || place === undefined) return answers;
  const answer = match[2] ?? '';
  const written = answer.endsWith('\r') ? answer.slice(0, -1) : answer;
  const quoted = withoutContext(written, place);
  // The context may end with a token of a chat template; the answer does not.
  const text = quoted === written ? withoutContext(withoutTokensAtEnd(written), place) : quoted;
  // Half a character or U+0000 would be just as invalid, and the quoted question does not answer it.
  if (!text.isWellFormed() || text.includes('\0') || text.includes(markOf(place))) return answers;
  return new Map(answers).set(place.index, text);
}

/** Many models repeat the whole quotation with the place filled in. */
function withoutContext(text: string, place: InvalidPlace): string {
  const { before, after } = quotedContext(place);
  const around = before.length + after.length;
  if (around < MIN_CONTEXT || text.length < around) return text;
  if (!text.startsWith(before) || !text.endsWith(after)) return text;
  return text.slice(before.length, text.length - after.length);
}

/** Fewer characters around a place could match the answer by chance. */
const MIN_CONTEXT = 4;

export function markOf(place: InvalidPlace): string {
  return `⟦${place.index}⟧`;
}

/** The part of a place's context that is in the same line. */
export function quotedContext(place: InvalidPlace): {
  readonly before: string;
  readonly after: string;
} {
  const { before, after } = place.context;
  return {
    before: before.slice(before.lastIndexOf('\n') + 1),
    after: (after.split('\n', 1)[0] ?? '').replace(/\r$/u, ''),
  };
}

/**
 * Reads a reply to an open question (prompts P3, P4, P5 and P10).
 *
 * Invariants
 * Q1  An answer is the whole reply: one line, with blanks and blank lines around it.
 * Q2  While more text could complete an answer, `canStillBeAnswer` is true; once false it stays false.
 * Q3  Only what was offered is an answer; a line number that was not offered ends nothing.
 */
import type { EndCandidate, SessionQuestion } from '@orion/contracts';

import { isClosed } from '../questions/questions.ts';

export type Answer =
  | { readonly kind: 'end'; readonly candidate: EndCandidate }
  | { readonly kind: 'done' }
  | { readonly kind: 'keep' }
  | { readonly kind: 'strip' }
  | { readonly kind: 'again' }
  /** Nothing, a line that was not offered, or, to a closed question, anything else: ask again. */
  | { readonly kind: 'unusable' }
  /** The start of a message like any other: it goes to the seam reader. */
  | { readonly kind: 'text' };

/** A reply with more blanks than this around its answer is read as text: the reply is held in memory. */
const HELD_LIMIT = 16_384;
const END_LINE = /^END[ \t]+([0-9]{1,15})$/u;
const END_LINE_BEGUN = /^END[ \t]*[0-9]{0,15}$/u;
const OTHER_END_MARKER = /^DONE [0-9a-f]{4}$/u;
const OTHER_END_MARKER_BEGUN = /^DONE [0-9a-f]{0,4}$/u;

/** Whether the reply, of which `heldText` is the beginning, can still become an answer. */
export function canStillBeAnswer(
  question: SessionQuestion,
  heldText: string,
  endMarker: string,
): boolean {
  if (heldText.length > HELD_LIMIT) return false;
  const word = withoutBlanks(heldText);
  // Blanks after a word that is none yet, as in `KE P`, can never become one.
  const mayGrow = heldText.endsWith(word);
  if (word === '' || answerOf(question, word, endMarker) !== 'text') return true;
  if (question.kind === 'end' && END_LINE_BEGUN.test(word)) return mayGrow || /^END$/u.test(word);
  return (
    (mayGrow && words(question, endMarker).some((offered) => offered.startsWith(word))) ||
    (takesDone(question) && mayGrow && OTHER_END_MARKER_BEGUN.test(word))
  );
}

/** What the whole reply says. */
export function readAnswer(
  question: SessionQuestion,
  wholeReply: string,
  endMarker: string,
): Answer {
  const word = withoutBlanks(wholeReply);
  const answer =
    wholeReply.length > HELD_LIMIT && word !== '' ? 'text' : answerOf(question, word, endMarker);
  if (answer !== 'text') return answer;
  return isClosed(question) ? { kind: 'unusable' } : { kind: 'text' };
}

function answerOf(question: SessionQuestion, word: string, endMarker: string): Answer | 'text' {
  if (word === '') return { kind: 'unusable' };
  if (takesDone(question) && (word === 'DONE' || word === endMarker || OTHER_END_MARKER.test(word)))
    return { kind: 'done' };
  if (question.kind !== 'end') {
    if (word === 'KEEP') return { kind: 'keep' };
    if (question.kind === 'fence' && word === 'STRIP') return { kind: 'strip' };
    if (question.kind === 'omission' && word === 'AGAIN') return { kind: 'again' };
    return 'text';
  }
  const line = END_LINE.exec(word)?.[1];
  if (line === undefined) return 'text';
  const candidate = question.candidates.find((offered) => offered.line === Number(line));
  return candidate === undefined ? { kind: 'unusable' } : { kind: 'end', candidate };
}

/** A loop, since a pattern anchored at the end looks at every run of blanks from each of its places. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d;
}

function takesDone(question: SessionQuestion): boolean {
  return !isClosed(question);
}

function words(question: SessionQuestion, endMarker: string): readonly string[] {
  switch (question.kind) {
    case 'end':
      return ['DONE', endMarker, 'END'];
    case 'near_miss':
      return ['DONE', endMarker, 'KEEP'];
    case 'fence':
      return ['STRIP', 'KEEP'];
    case 'omission':
      return ['AGAIN', 'KEEP'];
  }
}

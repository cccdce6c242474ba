import type { JsonValue } from '@orion/contracts';

import { TraversalError } from './json-path.ts';
import { answer } from './traversal.ts';
import type { Question } from './traversal.ts';

export type TraversalMessage = {
  /** The JSON text of the document; missing when it is the one that was kept. */
  readonly document?: string;
  /** Whether to keep the document for the next question. */
  readonly keep: boolean;
  readonly question: Question;
};

export type TraversalReply =
  | { readonly kind: 'answer'; readonly json: string }
  | { readonly kind: 'refused'; readonly message: string; readonly suggestion: string }
  | { readonly kind: 'corrupt'; readonly message: string };

/** Answers one message after the other, and keeps a document between two. */
export function createReplies(): (message: TraversalMessage) => TraversalReply {
  let kept: JsonValue = null;
  return ({ document, keep, question }) => {
    let asked = kept;
    // The last one goes before the next one takes its room.
    kept = null;
    try {
      if (document !== undefined) asked = JSON.parse(document) as JsonValue;
    } catch (error) {
      return { kind: 'corrupt', message: String(error) };
    }
    if (keep) kept = asked;
    try {
      return { kind: 'answer', json: JSON.stringify(answer(asked, question)) };
    } catch (error) {
      if (error instanceof TraversalError) {
        const { message, suggestion } = error;
        return { kind: 'refused', message, suggestion };
      }
      // Too deep for the engine, or too long for a text.
      if (error instanceof RangeError) {
        return {
          kind: 'refused',
          message: `The answer cannot be written: ${error.message}.`,
          suggestion: 'Ask for a smaller part.',
        };
      }
      throw error;
    }
  };
}

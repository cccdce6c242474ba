/** The thread in which stored outputs are parsed and asked. Answers leave it as texts, so that no other thread parses them. */
import { isMainThread, parentPort } from 'node:worker_threads';

import type { JsonValue } from '@orion/contracts';

import type { Question } from './traversal.ts';

/** Where this module is: whoever starts the thread names it by this. */
export const TRAVERSAL_WORKER: string = import.meta.url;

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

async function serve(port: NonNullable<typeof parentPort>): Promise<void> {
  const { answer } = await import('./traversal.ts');
  const { TraversalError } = await import('./json-path.ts');
  let kept: JsonValue = null;
  const reply = ({ document, keep, question }: TraversalMessage): TraversalReply => {
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
  port.on('message', (message: TraversalMessage) => port.postMessage(reply(message)));
}

if (!isMainThread && parentPort !== null) await serve(parentPort);

import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { KillableWorker } from '../worker/killable-worker.ts';
import type { Question } from './traversal.ts';
import type { TraversalMessage, TraversalReply } from './traversal-worker.ts';

/** For each question, in milliseconds; reading the document included. */
export const TRAVERSAL_LIMIT_MS = 5_000;
/** A document of 16 MiB is up to 400 MiB when it is parsed, a million matches are 300 MiB. */
const MAX_HEAP_MIB = 2_048;

export type StoredDocument = {
  readonly id: string;
  /** Its JSON text. */
  read(): Promise<string>;
};

export interface Traverser {
  /**
   * The answer as JSON text. Rejects with OUTPUT_QUERY_INVALID for a question that cannot be answered, OUTPUT_QUERY_LIMIT
   * for one that takes too long or too much memory, OUTPUT_CORRUPT for a document that is not JSON, and ABORTED.
   */
  ask(document: StoredDocument, question: Question, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

/** Asks stored documents in a thread that can be ended, and that keeps the last one parsed. */
export function createTraverser({
  clock,
  limitMs = TRAVERSAL_LIMIT_MS,
}: {
  readonly clock: Clock;
  readonly limitMs?: number;
}): Traverser {
  let worker: KillableWorker | null = null;
  let held: { readonly id: string; readonly generation: number } | null = null;
  return {
    async ask(document, question, signal) {
      if (worker === null) {
        const { TRAVERSAL_WORKER } = await import('./traversal-worker.ts');
        worker ??= new KillableWorker(TRAVERSAL_WORKER, { maxHeapMib: MAX_HEAP_MIB, clock });
      }
      const thread = worker;
      const isHeld = (): boolean =>
        held?.id === document.id && held.generation === thread.generation;
      const answer = await thread.ask(
        async (): Promise<TraversalMessage> => {
          if (isHeld()) return { question };
          const text = await document.read();
          held = { id: document.id, generation: thread.generation };
          return { document: text, question };
        },
        { milliseconds: limitMs, signal },
      );
      if (answer.kind === 'stopped') {
        if (answer.because === 'abort') {
          throw new OrionError({ code: 'ABORTED', message: 'The question was cancelled.' });
        }
        throw new OrionError({
          code: 'OUTPUT_QUERY_LIMIT',
          message:
            answer.because === 'time'
              ? `The question took longer than ${limitMs / 1_000} seconds and was stopped.`
              : 'The question took too much memory and was stopped.',
          hint: 'Ask for a smaller part: a path without "..", or a deeper place.',
        });
      }
      const reply = answer.value as TraversalReply;
      switch (reply.kind) {
        case 'answer':
          return reply.json;
        case 'refused':
          throw new OrionError({
            code: 'OUTPUT_QUERY_INVALID',
            message: reply.message,
            hint: reply.suggestion,
          });
        case 'corrupt':
          held = null;
          throw new OrionError({
            code: 'OUTPUT_CORRUPT',
            message: `The output ${document.id} is damaged: ${reply.message}.`,
            hint: 'Run the tool again.',
          });
        default:
          return reply satisfies never;
      }
    },
    async close() {
      await worker?.close();
    },
  };
}

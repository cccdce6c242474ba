import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { KillableWorker } from '../worker/killable-worker.ts';
import type { WorkerAnswer } from '../worker/killable-worker.ts';
import type { Question } from './traversal.ts';
import type { TraversalMessage, TraversalReply } from './traversal-replies.ts';
import { TRAVERSAL_WORKER } from './traversal-worker.ts';

/** For each question, in milliseconds; parsing the document included. */
export const TRAVERSAL_LIMIT_MS = 5_000;
/** A document of 16 MiB is up to 400 MiB when it is parsed, a million matches are 300 MiB. */
const MAX_HEAP_MIB = 2_048;
/** So many questions run at once; further ones wait for the thread with the fewest. */
const THREADS = 3;
/** A longer document is parsed for each question: kept, it would take too much memory. */
const MAX_KEPT_CHARACTERS = 16 * 1024 * 1024;

export type StoredDocument = {
  readonly id: string;
  /** It is not kept for another question. */
  readonly once?: boolean;
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

/**
 * Asks stored documents in threads that can be ended.
 *
 * 1. The first thread lasts, and keeps the last document parsed.
 * 2. A question does not wait for a slow one: while the first thread is busy, others are started and end with their
 *    question.
 */
export function createTraverser({
  clock,
  limitMs = TRAVERSAL_LIMIT_MS,
}: {
  readonly clock: Clock;
  readonly limitMs?: number;
}): Traverser {
  const threads = Array.from(
    { length: THREADS },
    () => new KillableWorker(TRAVERSAL_WORKER, { maxHeapMib: MAX_HEAP_MIB, clock }),
  );
  const [lasting] = threads;
  /** What the first thread keeps. */
  let kept: { readonly id: string; readonly generation: number } | null = null;
  return {
    async ask(stored, question, signal) {
      const { id, once = false } = stored;
      const thread = threads.reduce((one, other) => (other.pending < one.pending ? other : one));
      const lasts = thread === lasting;
      const message = async (): Promise<TraversalMessage> => {
        const { generation } = thread;
        const isKept = lasts && kept?.id === id && kept.generation === generation;
        if (isKept) return { question, keep: true };
        const document = await stored.read();
        const keep = lasts && !once && document.length <= MAX_KEPT_CHARACTERS;
        if (lasts) kept = keep ? { id, generation } : null;
        return { document, question, keep };
      };
      try {
        const answer = await thread.ask(message, { milliseconds: limitMs, signal });
        const reply = replyOf(answer, limitMs);
        if (reply.kind === 'answer') return reply.json;
        if (lasts && reply.kind === 'corrupt') kept = null;
        throw errorOf(reply, id);
      } finally {
        if (!lasts && thread.pending === 0) await thread.close();
      }
    },
    async close() {
      await Promise.all(threads.map((thread) => thread.close()));
    },
  };
}

function replyOf(answer: WorkerAnswer, limitMs: number): TraversalReply {
  if (answer.kind === 'answer') return answer.value as TraversalReply;
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

function errorOf(reply: Exclude<TraversalReply, { kind: 'answer' }>, id: string): OrionError {
  switch (reply.kind) {
    case 'refused':
      return new OrionError({
        code: 'OUTPUT_QUERY_INVALID',
        message: reply.message,
        hint: reply.suggestion,
      });
    case 'corrupt':
      return new OrionError({
        code: 'OUTPUT_CORRUPT',
        message: `The output ${id} is damaged: ${reply.message}.`,
        hint: 'Run the tool again.',
      });
    default:
      return reply satisfies never;
  }
}

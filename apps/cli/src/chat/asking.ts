import type { Answer, ChatEvent } from './controller.ts';
import type { FaceChoice, FaceQuestion } from './face.ts';

export type NewQuestion =
  | Omit<Extract<FaceQuestion, { kind: 'choice' }>, 'id'>
  | Omit<Extract<FaceQuestion, { kind: 'pick' }>, 'id'>;

/** Asks the person, one question after another. */
export type Asking = {
  /** The answer; null without one: it was closed, withdrawn by the signal, or the person left. */
  ask(question: NewQuestion, signal: AbortSignal): Promise<Answer | null>;
  /** What became of a question. */
  settle(id: number, answer: Answer | null): void;
};

export function createAsking(dispatch: (event: ChatEvent) => void): Asking {
  const open = new Map<number, (answer: Answer | null) => void>();
  let lastId = 0;
  return {
    async ask(question, signal) {
      if (signal.aborted) return null;
      lastId += 1;
      const id = lastId;
      const { promise, resolve } = Promise.withResolvers<Answer | null>();
      open.set(id, resolve);
      const withdraw = (): void => dispatch({ type: 'withdrawn', id });
      signal.addEventListener('abort', withdraw, { once: true });
      dispatch({ type: 'asked', question: { ...question, id } });
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', withdraw);
      }
    },
    settle(id, answer) {
      open.get(id)?.(answer);
      open.delete(id);
    },
  };
}

/** A choice that is its label, such as `(y)es`. */
export function choice(label: string, asksFor: string | null = null): FaceChoice {
  const key = /\((?<letter>\w)\)/u.exec(label)?.groups?.['letter'] ?? '';
  return { key: key.toLowerCase(), label, asksFor };
}

import type { FaceInput } from './face.ts';

/** What the person has done, in its order; for one reader. */
export type InputQueue = AsyncIterable<FaceInput> & {
  push(input: FaceInput): void;
  /** What was pushed is still read; then the reading ends. */
  end(): void;
};

export function createInputQueue(): InputQueue {
  const waiting: FaceInput[] = [];
  let ended = false;
  let wake: (() => void) | null = null;

  return {
    push(input) {
      if (ended) return;
      waiting.push(input);
      wake?.();
    },
    end() {
      ended = true;
      wake?.();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const next = waiting.shift();
        if (next !== undefined) {
          yield next;
        } else if (ended) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          wake = null;
        }
      }
    },
  };
}

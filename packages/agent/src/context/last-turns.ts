import type { Message } from '@orion/contracts';

/** The end of a history that has at most so many bytes, and begins with what a person said. */
export function lastTurns(history: readonly Message[], limit: number): readonly Message[] {
  let start = history.length;
  let bytes = 0;
  for (let index = history.length - 1; index >= 0; index -= 1) {
    const message = history[index];
    bytes += Buffer.byteLength(JSON.stringify(message));
    if (bytes > limit) return history.slice(start);
    if (message?.role === 'user') start = index;
  }
  return history;
}

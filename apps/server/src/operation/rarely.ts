import type { Clock } from '@orion/contracts';

const AGAIN_MS = 10_000;

/**
 * Passes a text on, and the same one again at most every 10 s: while a store is away, something fails several times a
 * second. Every text is remembered, so there may be only so many.
 */
export function rarely(clock: Clock, write: (text: string) => void): (text: string) => void {
  const written = new Map<string, number>();
  return (text) => {
    const now = clock.monotonic();
    if (now - (written.get(text) ?? -Infinity) < AGAIN_MS) return;
    written.set(text, now);
    write(text);
  };
}

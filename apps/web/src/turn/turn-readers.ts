import type { OrionClient } from '@orion/client';
import { sleep, systemClock } from '@orion/contracts';

import { HIDDEN_MS } from './stream-policy.ts';
import { createStreamSeats } from './stream-seats.ts';
import { TurnReader } from './turn-reader.ts';
import { createTurnSource } from './turn-source.ts';

/** Turns that are not looked at and still remembered. */
const MOST_REMEMBERED = 20;

/** One reader a turn, shared by everything on the page that shows it. */
export type TurnReaders = {
  of(turnId: string): TurnReader;
  close(): void;
};

export function createTurnReaders(client: OrionClient): TurnReaders {
  const readers = new Map<string, TurnReader>();
  const source = createTurnSource(client, createStreamSeats(navigator.locks));
  const closed = new AbortController();
  let hiding: ReturnType<typeof setTimeout> | undefined;
  let isShown = true;
  const setShown = (is: boolean): void => {
    isShown = is;
    for (const reader of readers.values()) reader.setShown(is);
  };
  const look = (): void => {
    clearTimeout(hiding);
    if (document.visibilityState === 'visible') setShown(true);
    else hiding = setTimeout(() => setShown(false), HIDDEN_MS);
  };
  document.addEventListener('visibilitychange', look, { signal: closed.signal });
  look();
  return {
    of(turnId) {
      const found = readers.get(turnId);
      if (found !== undefined) return found;
      const reader = new TurnReader({
        read: source(turnId),
        now: () => Date.now(),
        random: Math.random,
        wait: (milliseconds, signal) => sleep(systemClock, milliseconds, signal),
      });
      reader.setShown(isShown);
      readers.set(turnId, reader);
      for (const [id, old] of readers) {
        if (readers.size <= MOST_REMEMBERED) break;
        if (id !== turnId && !old.isWatched()) readers.delete(id);
      }
      return reader;
    },
    close() {
      closed.abort();
      clearTimeout(hiding);
      setShown(false);
    },
  };
}

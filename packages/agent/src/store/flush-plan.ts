const INTERVAL_MS = 33;
const STORING_MS = 250;
const FEW_TURNS = 100;
const SHORTEST_MS = 100;
const LONGEST_MS = 250;
/** What a process has its turns store: each event costs the store, this process and its readers something. */
const EVENTS_A_SECOND = 4_000;

/**
 * How long after the beginning of a flush the next one begins at the earliest, in milliseconds. A slow store is given
 * less, but text does not wait for it unseen: a turn must know how far it is ahead of the store.
 */
export function flushInterval({ isStoring }: { readonly isStoring: boolean }): number {
  return isStoring ? STORING_MS : INTERVAL_MS;
}

/**
 * How many of the turns that hold text are asked for it in a flush, so long after the one before. Text is held so that it
 * costs one event: the more turns speak at once, the more of it. Many are asked one part after the other, since the last
 * of a flush waits for all others of it; the parts are as large as it takes to ask each turn every 100 ms, and of more
 * than 400 less often, so that the events of all together do not become more.
 */
export function turnsToAsk(turns: number, elapsedMs: number): number {
  const roundMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, (turns * 1_000) / EVENTS_A_SECOND));
  const part = Math.ceil(turns * Math.min(1, elapsedMs / roundMs));
  return Math.min(turns, Math.max(FEW_TURNS, part));
}

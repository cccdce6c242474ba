/** Decides what the attic and the backups may drop. Pure. */

export type Retained = {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly bytes: number;
};

export type RetentionLimits = { readonly maxAgeMs: number; readonly maxBytes: number };

/**
 * The entries to drop: first those that are too old, then the oldest until the rest fits. The newest one is never
 * dropped for its size, because a limit smaller than one file would keep nothing.
 */
export function expired(
  entries: readonly Retained[],
  limits: RetentionLimits,
  now: number,
): readonly string[] {
  const dropped: string[] = [];
  let total = 0;
  let isFull = false;
  for (const [index, entry] of fromNewest(entries).entries()) {
    const tooOld = now - entry.since >= limits.maxAgeMs;
    total += entry.bytes;
    isFull ||= index > 0 && total > limits.maxBytes;
    if (tooOld || isFull) dropped.push(entry.name);
  }
  return dropped;
}

export function fromNewest(entries: readonly Retained[]): readonly Retained[] {
  return entries.toSorted((a, b) => b.since - a.since || (a.name < b.name ? 1 : -1));
}

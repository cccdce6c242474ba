import type { ProtectedChange, ProtectedEntry, ProtectedPaths } from '@orion/contracts';

/** A change, and what was at its path before. */
export type FoundChange = Pick<ProtectedChange, 'path' | 'change'> & {
  readonly before: ProtectedEntry | null;
};

/**
 * What differs between two lists of protected paths. Pure.
 *
 * 1. What is in a folder that one of the lists does not cover is left out: it is not known to be new, or gone.
 * 2. What moved with a folder above it is the same as before.
 */
export function differences(before: ProtectedPaths, after: ProtectedPaths): readonly FoundChange[] {
  const earlier = new Map(before.entries.map((entry) => [entry.path, entry]));
  const earlierIdentities = new Set(before.entries.map(({ identity }) => identity));
  const later = new Set(after.entries.map(({ path }) => path));
  const laterIdentities = new Set(after.entries.map(({ identity }) => identity));
  const present = after.entries.flatMap(({ path, identity }): FoundChange[] => {
    const old = earlier.get(path) ?? null;
    if (old !== null)
      return old.identity === identity ? [] : [{ path, change: 'changed', before: old }];
    const isNew = wasSearched(before, path) && !earlierIdentities.has(identity);
    return isNew ? [{ path, change: 'created', before: null }] : [];
  });
  const removed = before.entries
    .filter(({ path, identity }) => !later.has(path) && !laterIdentities.has(identity))
    .filter(({ path }) => wasSearched(after, path))
    .map((old): FoundChange => ({ path: old.path, change: 'removed', before: old }));
  return [...present, ...removed];
}

function wasSearched({ truncated, folders }: ProtectedPaths, path: string): boolean {
  return !truncated || folders.has(path.slice(0, Math.max(0, path.lastIndexOf('/'))));
}

import type { ReactNode } from 'react';

/** Leads through a list that is read newest first, a page at a time. */
export function Pager<Cursor>({
  before,
  next,
  go,
}: {
  /** Where the page that is shown begins; null for the newest one. */
  readonly before: Cursor | null;
  /** Where the page after it begins; null if there is none. */
  readonly next: Cursor | null;
  readonly go: (before: Cursor | null) => void;
}): ReactNode {
  return (
    <div className="actions">
      {before !== null && (
        <button type="button" onClick={() => go(null)}>
          Newest
        </button>
      )}
      {next !== null && (
        <button type="button" onClick={() => go(next)}>
          Earlier
        </button>
      )}
    </div>
  );
}

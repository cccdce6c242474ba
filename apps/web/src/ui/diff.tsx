import { memo, useMemo, useState } from 'react';
import type { ReactNode } from 'react';

import { foldEmpty, isEmptyLine } from '../text/shown-text.ts';
import { hunksOf } from './diff-lines.ts';
import type { DiffHunk, DiffRow } from './diff-lines.ts';
import { counted } from './format.ts';
import { ShownLine } from './shown-text.tsx';

/** Rows of a hunk that are drawn without being asked for. */
const FOLDED = 400;
const WORDS = { '+': 'added', '-': 'removed' } as const;

export type DiffProps = {
  readonly diff: string;
  readonly isCut?: boolean;
  /** A person decides about it: none of it is folded. */
  readonly isWhole?: boolean;
  /** All lines end in CRLF, which is said once. */
  readonly hasCrlf?: boolean;
};

/**
 * A unified diff of the server. Every character that is not seen is drawn as an escape, and padding is counted. Drawn
 * again only for another text: what it stands in is read every two seconds, and it may have 100,000 rows.
 */
export const Diff = memo(function Diff({
  diff,
  isCut = false,
  isWhole = false,
  hasCrlf = false,
}: DiffProps): ReactNode {
  const hunks = useMemo(
    () => hunksOf(hasCrlf ? diff.replaceAll('\r\n', '\n') : diff),
    [diff, hasCrlf],
  );
  if (hunks.length === 0 && !isCut) return <p className="faint">Nothing would change.</p>;
  return (
    <div className="diff">
      {hasCrlf && <p className="faint">All lines end in CRLF.</p>}
      {hunks.map((hunk, index) => (
        <Hunk key={index} hunk={hunk} most={isWhole ? Number.POSITIVE_INFINITY : FOLDED} />
      ))}
      {isCut && <p>Of this difference, or of a long line in it, only the beginning is shown.</p>}
    </div>
  );
});

function Hunk({
  hunk: { head, rows: all },
  most,
}: {
  readonly hunk: DiffHunk;
  readonly most: number;
}): ReactNode {
  const rows = useMemo(() => foldRows(all), [all]);
  const [isOpen, setOpen] = useState(rows.length <= most);
  const shown = isOpen ? rows : rows.slice(0, most);
  return (
    <table>
      <caption>{head}</caption>
      <tbody>
        {shown.map((row, index) => (
          <tr key={index} data-sign={row.sign}>
            {row.sign === ' ' ? (
              <th scope="row">
                <span className="unseen">unchanged</span>
              </th>
            ) : (
              <th scope="row" aria-label={WORDS[row.sign]}>
                {row.sign}
              </th>
            )}
            <td>
              {row.emptyLines === 0 ? (
                <>
                  <ShownLine>{row.text}</ShownLine>
                  {row.isUnended && <mark>[no line ending]</mark>}
                </>
              ) : (
                <mark>[{counted(row.emptyLines, 'empty line')}]</mark>
              )}
            </td>
          </tr>
        ))}
        {!isOpen && (
          <tr>
            <td colSpan={2}>
              <button type="button" onClick={() => setOpen(true)}>
                Show {counted(rows.length - most, 'further line')}
              </button>
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

/** Empty rows of one sign that would push others out of sight are one. */
function foldRows(
  rows: readonly DiffRow[],
): readonly (DiffRow & { readonly emptyLines: number })[] {
  const runs: DiffRow[][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    if (run?.[0]?.sign === row.sign) run.push(row);
    else runs.push([row]);
  }
  return runs.flatMap((run) =>
    foldEmpty(run, ({ text, isUnended }) => isUnended !== true && isEmptyLine(text)).map((row) =>
      'like' in row ? { ...row.like, emptyLines: row.emptyLines } : { ...row, emptyLines: 0 },
    ),
  );
}

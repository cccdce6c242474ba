import { useEffect, useRef } from 'react';
import type { ReactNode, RefObject } from 'react';

import { findLine, findText, showFound, unmark } from '../live-text/find-text.ts';
import type { Found } from '../live-text/find-text.ts';
import { FindForm } from '../ui/find-form.tsx';
import { formatCount } from '../ui/format.ts';

/** Finds text of the file that is out of sight as well, which the browser's own search would have to draw first. */
export function FindBar({
  scroller,
}: {
  readonly scroller: RefObject<HTMLElement | null>;
}): ReactNode {
  const found = useRef<Found | null>(null);
  useEffect(() => unmark, []);
  const find = (wanted: string, by: 1 | -1): string => {
    const text = scroller.current;
    if (text === null) return '';
    const [, line] = /^:(\d{1,9})$/u.exec(wanted) ?? [];
    const from = found.current?.block.isConnected === true ? found.current : null;
    const next =
      line === undefined ? findText(text, wanted, from, by) : findLine(text, Number(line));
    found.current = next;
    if (next === null) unmark();
    else showFound(text, next);
    return next === null ? 'Not in the text that is drawn' : `Line ${formatCount(next.line)}`;
  };
  const forget = (): void => {
    found.current = null;
    unmark();
  };
  return <FindForm label="Find text, or :line" find={find} changed={forget} />;
}

import type { ReactNode } from 'react';

import { foldEmpty, isEmptyLine, partsOfLine } from '../text/shown-text.ts';
import { counted } from './format.ts';

/** One line that people decide about: see `text/shown-text.ts`. */
export function ShownLine({ children }: { readonly children: string }): ReactNode {
  return (
    <>
      {partsOfLine(children).map((part, index) =>
        part.kind === 'text' ? (
          part.text
        ) : (
          <mark key={index}>[{counted(part.count, 'blank')}]</mark>
        ),
      )}
    </>
  );
}

/** A whole text that people decide about. None of it is folded or scrolled out of sight. */
export function ShownText({ children }: { readonly children: string }): ReactNode {
  const lines = foldEmpty(children.split('\n'), isEmptyLine);
  return (
    <pre className="whole" dir="ltr">
      {lines.map((line, index) => (
        <div key={index}>
          {typeof line === 'string' ? (
            <ShownLine>{line}</ShownLine>
          ) : (
            <mark>[{counted(line.emptyLines, 'empty line')}]</mark>
          )}
        </div>
      ))}
    </pre>
  );
}

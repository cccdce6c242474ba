import { visibleName } from '@orion/contracts';
import { useEffect } from 'react';
import type { ReactNode } from 'react';

import { Name } from './name.tsx';

/** The heading of a view, and the title of its tab. */
export function Title({
  children,
  isName = false,
}: {
  readonly children: string;
  /** It comes from outside, such as the name of a file. */
  readonly isName?: boolean;
}): ReactNode {
  useEffect(() => {
    document.title = `${visibleName(children)} · Orion`;
  }, [children]);
  return <h1>{isName ? <Name>{children}</Name> : children}</h1>;
}

import { visibleName } from '@orion/contracts';
import type { ReactNode } from 'react';

/** A path, a name or a command from outside: every character that is not seen is drawn as an escape (W3). */
export function Name({ children }: { readonly children: string }): ReactNode {
  return <bdi className="name">{visibleName(children)}</bdi>;
}

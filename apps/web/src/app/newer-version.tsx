import type { StatusAnswer } from '@orion/contracts';
import type { ReactNode } from 'react';

import { useRead } from '../api/context.tsx';

const EVERY_MS = 30_000;
/** Of this page, as the server named it. */
const OWN = document.querySelector<HTMLMetaElement>('meta[name=orion-page]')?.content ?? null;

/** Offers the page of a server that was replaced by another version. It is never loaded unasked: somebody may be typing. */
export function NewerVersion(): ReactNode {
  const status = useRead<StatusAnswer>('/api/status', { every: EVERY_MS });
  const offered = status.data?.page ?? null;
  if (OWN === null || offered === null || offered === OWN) return null;
  return (
    <p className="newer" role="status">
      The server has another version of this page now.{' '}
      <button type="button" onClick={() => location.reload()}>
        Load it
      </button>{' '}
      What you have typed stays.
    </p>
  );
}

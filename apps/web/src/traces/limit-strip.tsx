import type { TracedEvent } from '@orion/contracts';
import type { ReactNode } from 'react';

import { useRead } from '../api/context.tsx';
import { formatCount } from '../ui/format.ts';

type LimitUse = { readonly limit: string; readonly used: number; readonly most: number };

const UNITS: Readonly<Record<string, string>> = {
  maxTurns: 'model calls',
  maxSeconds: 'seconds',
  maxTokens: 'tokens',
  maxDuplicateAttempts: 'repeated calls',
  maxIdleToolPhases: 'rounds without news',
  stopSeconds: 'seconds of model calls',
  stopTokens: 'tokens of answers',
};

/** What a turn has used of its limits; recorded when it ends. */
export function LimitStrip({ end }: { readonly end: TracedEvent }): ReactNode {
  const path = `/api/traces/${encodeURIComponent(end.requestId ?? '')}/events/${end.id}`;
  const found = useRead<{ readonly details: { readonly limits?: readonly LimitUse[] } | null }>(
    path,
  );
  const limits = found.data?.details?.limits ?? [];
  if (limits.length === 0) return null;
  return (
    <ul className="limits" aria-label="Limits">
      {limits.map(({ limit, used, most }) => (
        <li key={limit} data-reached={used >= most}>
          <meter aria-hidden="true" value={used} max={most} />{' '}
          {formatCount(Math.round(used * 10) / 10)} of {formatCount(most)} {UNITS[limit] ?? limit}
          {used >= most && <strong> (reached)</strong>}
        </li>
      ))}
    </ul>
  );
}

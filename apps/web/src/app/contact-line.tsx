import { useQueryClient } from '@tanstack/react-query';
import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';

import { announcer } from '../ui/announcer.ts';
import { formatAge, formatTime } from '../ui/format.ts';
import { isUnreachable } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';

/**
 * Says that the server does not answer, since when, and how to start it. What is on the page stays; when the server is
 * back, everything that could not be read is read again.
 */
export function ContactLine({
  query: { error, dataUpdatedAt: since, errorUpdatedAt },
  every,
}: {
  /** A read that is repeated every so many milliseconds. */
  readonly query: UseQueryResult;
  readonly every: number;
}): ReactNode {
  const queries = useQueryClient();
  const isLost = isUnreachable(error);
  const now = useNow(isLost);
  const wasLost = useRef(false);
  useEffect(() => {
    if (isLost) announcer.say('contact', 'The server does not answer');
    else if (wasLost.current) {
      announcer.say('contact', 'The server answers again');
      void queries.invalidateQueries({ predicate: ({ state }) => state.status === 'error' });
    }
    wasLost.current = isLost;
  }, [isLost, queries]);
  if (!isLost) return null;
  return (
    <section className="lost gone" aria-label="No contact">
      <p>
        The server has not answered for {formatAge(now - since)}. What is shown is as of{' '}
        {formatTime(since, now)}. If it has ended, start it again in its folder; nothing that it
        saved is lost: <code>orion serve</code>
      </p>
      <p>
        The next try is in {formatAge(errorUpdatedAt + every - now)}.{' '}
        <button type="button" onClick={() => void queries.refetchQueries({ type: 'active' })}>
          Ask again now
        </button>
      </p>
    </section>
  );
}

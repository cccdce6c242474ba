import type { ReactNode } from 'react';

import { useServices } from '../api/context.tsx';
import { useAnnounced } from '../ui/announcements.tsx';
import { formatAge } from '../ui/format.ts';
import { Problem } from '../ui/states.tsx';
import { useNow } from '../ui/use-now.ts';
import { useTurn } from './use-turn.ts';

/** Says when what is shown is old: for how long there was no contact, and when the next try is. */
export function ConnectionLine({ turnId }: { readonly turnId: string }): ReactNode {
  const { connection } = useTurn(turnId);
  const { readers } = useServices();
  const isLost = connection.kind === 'lost';
  const now = useNow(isLost);
  useAnnounced(turnId, isLost ? 'No contact with a turn' : 'In contact with the turn');
  if (connection.kind === 'refused') return <Problem error={connection.error} />;
  if (!isLost) return null;
  return (
    <p className="lost">
      No contact for {formatAge(now - connection.since)}. What is shown is as of then. The next try
      is in {formatAge(connection.nextTry - now)}.{' '}
      <button type="button" onClick={() => readers.of(turnId).tryNow()}>
        Try now
      </button>
    </p>
  );
}

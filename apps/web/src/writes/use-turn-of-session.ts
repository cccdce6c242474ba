import { useEffect, useState } from 'react';
import type { ServedTurn } from '@orion/contracts';

import { useRead, useServices } from '../api/context.tsx';

/** The turn that writes a session: the one that is named, or one that is running. Null while none is found. */
export function useTurnOfSession(sessionId: string, named: string | null): string | null {
  const { readers } = useServices();
  const [found, setFound] = useState<string | null>(null);
  const running = useRead<{ readonly turns: readonly ServedTurn[] }>('/api/turns?state=running', {
    every: 5000,
    isWanted: named === null && found === null,
  });
  const ids = running.data?.turns.map(({ turnId }) => turnId).join(' ') ?? '';
  useEffect(() => {
    if (named !== null || ids === '') return;
    const leaves = ids.split(' ').map((turnId) => {
      const reader = readers.of(turnId);
      const look = (): void => {
        if (reader.snapshot().view.sessions.has(sessionId)) setFound(turnId);
      };
      look();
      return reader.subscribe(look);
    });
    return () => {
      for (const leave of leaves) leave();
    };
  }, [named, ids, readers, sessionId]);
  return named ?? found;
}

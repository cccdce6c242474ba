import { useState } from 'react';
import type { ReactNode } from 'react';

import { useServices } from '../api/context.tsx';
import { Problem } from '../ui/states.tsx';

/** Ends a turn; what it has written stays saved. */
export function CancelTurn({ turnId }: { readonly turnId: string }): ReactNode {
  const { api } = useServices();
  const [isAsked, setAsked] = useState(false);
  const [problem, setProblem] = useState<Error | null>(null);
  const cancel = async (): Promise<void> => {
    setAsked(true);
    setProblem(null);
    try {
      await api.call(`/api/turns/${encodeURIComponent(turnId)}/cancel`, { method: 'POST' });
    } catch (error) {
      setAsked(false);
      setProblem(error as Error);
    }
  };
  return (
    <>
      <button type="button" disabled={isAsked} onClick={() => void cancel()}>
        {isAsked ? 'Stopping…' : 'Stop'}
      </button>
      {problem !== null && <Problem error={problem} />}
    </>
  );
}

import { useSyncExternalStore } from 'react';

import { useServices } from '../api/context.tsx';
import type { TurnSnapshot } from './turn-reader.ts';

/** A turn as it is now. */
export function useTurn(turnId: string): TurnSnapshot {
  const reader = useServices().readers.of(turnId);
  return useSyncExternalStore(reader.subscribe, reader.snapshot);
}

/** Whether it goes on, as far as is known. */
export function useIsRunning(turnId: string | null): boolean {
  const { readers } = useServices();
  const reader = turnId === null ? null : readers.of(turnId);
  return useSyncExternalStore(reader?.subscribe ?? subscribeToNothing, () => {
    if (reader === null) return false;
    const { view, connection } = reader.snapshot();
    return view.end === null && connection.kind !== 'refused';
  });
}

function subscribeToNothing(): () => void {
  return () => undefined;
}

import { useSyncExternalStore } from 'react';

import { useServices } from '../api/context.tsx';
import type { TurnSnapshot } from './turn-reader.ts';

/** A turn as it is now. */
export function useTurn(turnId: string): TurnSnapshot {
  const reader = useServices().readers.of(turnId);
  return useSyncExternalStore(reader.subscribe, reader.snapshot);
}

import { randomUUID } from 'node:crypto';

import type { StoreOwner } from '@orion/trace-store';
import { loadSessionKey } from '@orion/workspace';

/** Signs with the key of this user that proves sessions, too; null without a key: owners then cannot be distinguished. */
export async function storeOwner(userDirectory: string | undefined): Promise<StoreOwner | null> {
  const key = await loadSessionKey(userDirectory);
  if (key === null) return null;
  return {
    newId: randomUUID,
    sign: (store) => key.sign({ store }),
    isOwn: (store, mac) => key.isOwn(JSON.stringify({ store, mac })),
  };
}

import { createHash } from 'node:crypto';

import { OrionError } from '@orion/contracts';
import type { Clock, ToolOutputStore } from '@orion/contracts';
import type { OutputKeeper } from '@orion/tool-runner';

import type { Settings } from '../config/settings.ts';
import { settlesWithin } from './deadline.ts';

/** A turn does not wait longer for a store that hangs: the tool's result is a failure then. */
const PUT_WAIT_MS = 5_000;

/** Where a turn's large results go. */
export function outputKeeper(
  store: ToolOutputStore,
  clock: Clock,
  { outputAutoCharacters, outputInlineCharacters }: Settings,
): OutputKeeper {
  return {
    store: {
      async put(record) {
        const putting = store.put(record);
        if (await settlesWithin(clock, PUT_WAIT_MS, putting)) return putting;
        throw new OrionError({
          code: 'STORE_UNAVAILABLE',
          message: `the store has not answered for ${PUT_WAIT_MS / 1_000} seconds`,
        });
      },
    },
    idOf,
    now: () => clock.now(),
    autoCharacters: outputAutoCharacters,
    inlineCharacters: outputInlineCharacters,
  };
}

function idOf(requestId: string, callId: string): string {
  const named = JSON.stringify([requestId, callId]);
  return createHash('sha256').update(named).digest('hex').slice(0, 32);
}

import { randomUUID } from 'node:crypto';
import { WriteTrial } from './engine/write-trial.ts';
import { createMemoryTraceStore } from './memory/memory-trace-store.ts';
import { openDatabase } from './open-database.ts';
import type { StoreLocation, StoreOptions } from './store-options.ts';
import { storeOver } from './store-over.ts';
import type { Store } from './store-over.ts';
import { createSqlTraceStore } from './traces/sql-trace-store.ts';

export type { EngineDatabase, Store } from './store-over.ts';

/**
 * The store at that location. Creating it does nothing: the first use opens the database and brings its schema up to
 * date. A database that cannot be opened rejects each call with `STORE_UNAVAILABLE`, `STORE_TOO_NEW` or
 * `STORE_FOREIGN`, and is tried again.
 */
export function openStore(location: StoreLocation, options: StoreOptions): Store {
  const { clock } = options;
  const writeTrial = new WriteTrial();
  const database = openDatabase(location, {
    ...options,
    observe(attempt, kind) {
      writeTrial.observe(attempt);
      options.observe?.(attempt, kind);
    },
  });
  const traces =
    location.kind === 'memory'
      ? createMemoryTraceStore({ clock, ...options.traces })
      : createSqlTraceStore(database, { clock, createId: randomUUID, ...options.traces });
  return storeOver(database, { ...options, traces, writeTrial });
}

import type { Clock, OrionError } from '@orion/contracts';
import type { DatabaseObserver } from './engine/lazy-database.ts';
import type { StoreOwner } from './engine/store-owner.ts';
import type { MemoryTraceStoreOptions } from './memory/memory-trace-store.ts';

export type StoreLocation =
  /** The folder of the file must exist when the store is first used; see `prepare`. */
  | { readonly kind: 'sqlite'; readonly path: string }
  /** `postgres://user:password@host:port/database`, with `?sslmode=require` for a checked TLS connection. */
  | { readonly kind: 'postgres'; readonly url: string }
  /** Lives as long as the process. */
  | { readonly kind: 'memory' };

export type StoreOptions = {
  readonly clock: Clock;
  /**
   * `false` for reading only: a database that is missing, or lacks our tables, is not created but reads as an empty one
   * for as long as this store is open.
   */
  readonly create?: boolean;
  /**
   * How a reader of a turn learns of what other processes store: `notify` (the default) lets Postgres notify and looks
   * once a second besides, `poll` looks every 100 ms and listens to nothing, as behind a pooler of connections.
   */
  readonly wake?: 'notify' | 'poll';
  /**
   * The owner that a SQLite file must have. A file that this owner has not signed is STORE_FOREIGN and is neither read
   * nor written. If null or left out, any store with a schema of ours is accepted.
   */
  readonly owner?: () => Promise<StoreOwner | null>;
  /** Called with a STORE_FOREIGN; a store in memory then takes its place. If left out, each call rejects with it. */
  readonly onForeign?: (error: OrionError) => void;
  /** Called before the database is opened, to create its folder. */
  readonly prepare?: () => Promise<void>;
  /** Sees every attempt to use the database, including those in the background, so that a caller knows its state. */
  readonly observe?: DatabaseObserver;
  /** Who sees traces as they are recorded, what is removed from them, and what happens when one is lost. */
  readonly traces?: Pick<MemoryTraceStoreOptions, 'onEvent' | 'onFirstDrop' | 'redact' | 'strict'>;
};

import type { Store } from '@orion/trace-store';
import type { SharedState } from '@orion/workspace';

import { configurationError } from './configuration-error.ts';
import type { Settings } from './settings.ts';

/** Throws CONFIG_INVALID for sessions in a database that there is not. */
export function requireStoreForSessions({
  sessions,
  databaseUrl,
}: Partial<Pick<Settings, 'sessions' | 'databaseUrl'>>): void {
  if (sessions === 'database' && (databaseUrl ?? null) === null) throw noPlaceForSessions();
}

/** Throws CONFIG_INVALID if this store cannot be shared. */
export function sharedStateOf({
  sessionContent: sessions,
  sharedRecords: records,
}: Pick<Store, 'sessionContent' | 'sharedRecords'>): SharedState {
  if (sessions === null || records === null) throw noPlaceForSessions();
  return { sessions: () => sessions, records: () => records };
}

function noPlaceForSessions(): Error {
  return configurationError(
    'ORION_SESSIONS=database keeps write sessions in Postgres, but none is configured.',
    'Set DATABASE_URL to a Postgres, or leave ORION_SESSIONS out.',
  );
}

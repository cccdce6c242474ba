import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';

import type { Clock, Workspace } from '@orion/contracts';
import { openStore } from '@orion/trace-store';
import type { Store } from '@orion/trace-store';

import type { Settings } from '../config/settings.ts';

const DATABASE_FILE = 'orion.db';
const OWN_PROJECT = 'default';

/** The store that the settings ask for. Nothing is opened or made before its first use. */
export function openStoreFor(options: {
  readonly settings: Pick<Settings, 'databaseUrl'>;
  readonly clock: Clock;
  readonly workspace: Pick<Workspace, 'stateDirectory' | 'ensureStateDirectory'>;
}): Store {
  const { settings, clock, workspace } = options;
  const { databaseUrl } = settings;
  if (databaseUrl !== null) return openStore({ kind: 'postgres', url: databaseUrl }, { clock });
  const path = join(workspace.stateDirectory, DATABASE_FILE);
  return openStore(
    { kind: 'sqlite', path },
    { clock, prepare: () => workspace.ensureStateDirectory() },
  );
}

/**
 * The project of a turn that names none. Where several workspaces share one store, each is a project of its own,
 * so that none goes on with a conversation of another.
 */
export function defaultProject(
  settings: Pick<Settings, 'databaseUrl' | 'stateDirectory'>,
  workspace: Pick<Workspace, 'root'>,
): string {
  if (settings.databaseUrl === null && settings.stateDirectory === null) return OWN_PROJECT;
  const { root } = workspace;
  return `${basename(root)}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;
}

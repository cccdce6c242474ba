import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';

import type { Workspace } from '@orion/contracts';
import type { StoreLocation } from '@orion/trace-store';

import type { Settings } from '../config/settings.ts';
import type { OrionOptions } from '../orion.ts';

const DATABASE_FILE = 'orion.db';
/** The project of a turn that names none where a workspace has its store for itself. */
export const OWN_PROJECT = 'default';

export function storeLocation(
  choice: OrionOptions['store'],
  settings: Pick<Settings, 'databaseUrl'>,
  workspace: Pick<Workspace, 'stateDirectory'>,
): StoreLocation {
  if (choice === 'memory') return { kind: 'memory' };
  const { databaseUrl } = settings;
  if (databaseUrl !== null) return { kind: 'postgres', url: databaseUrl };
  return { kind: 'sqlite', path: join(workspace.stateDirectory, DATABASE_FILE) };
}

/** Whether other workspaces may keep theirs in the same store. */
export function mayBeShared(settings: Pick<Settings, 'databaseUrl' | 'stateDirectory'>): boolean {
  return settings.databaseUrl !== null || settings.stateDirectory !== null;
}

/**
 * The project of a turn that names none where a store is shared: each workspace is one of its own, so that none goes
 * on with a conversation of another.
 */
export function projectOf(workspace: Pick<Workspace, 'root'>): string {
  const { root } = workspace;
  return `${basename(root)}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;
}

import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';

import type { Workspace } from '@orion/contracts';
import type { StoreLocation } from '@orion/trace-store';

import type { Settings } from '../config/settings.ts';

const DATABASE_FILE = 'orion.db';
const OWN_PROJECT = 'default';

export function storeLocation(
  choice: 'memory' | undefined,
  settings: Pick<Settings, 'databaseUrl'>,
  workspace: Pick<Workspace, 'stateDirectory'>,
): StoreLocation {
  if (choice === 'memory') return { kind: 'memory' };
  const { databaseUrl } = settings;
  if (databaseUrl !== null) return { kind: 'postgres', url: databaseUrl };
  return { kind: 'sqlite', path: join(workspace.stateDirectory, DATABASE_FILE) };
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

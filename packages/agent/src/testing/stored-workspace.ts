import { randomUUID } from 'node:crypto';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type { Clock, SessionContent, SessionMetadata, Workspace } from '@orion/contracts';
import { openStore } from '@orion/trace-store';
import { createWorkspace } from '@orion/workspace';
import { onTestFinished } from 'vitest';

import { sharedStateOf } from '../config/sessions-in-store.ts';
import type { useTestDatabase } from './test-database.ts';

export type StoredWorkspace = {
  readonly root: string;
  readonly workspace: Workspace;
  /** The types of those of its sessions. */
  readonly events: readonly string[];
};

/**
 * A workspace whose sessions are in a real database, but for what `change` puts in front of it.
 *
 * @param root of one that was opened before, left out for a new one
 */
export async function openStoredWorkspace(
  database: ReturnType<typeof useTestDatabase>,
  change: (inner: SessionContent) => Partial<SessionContent>,
  {
    root: given,
    clock = systemClock,
  }: { readonly root?: string; readonly clock?: Clock | undefined } = {},
): Promise<StoredWorkspace> {
  const root = given ?? (await realpath(await mkdtemp(join(tmpdir(), 'orion-away-'))));
  const store = openStore({ kind: 'postgres', url: database.url() }, { clock: systemClock });
  const shared = sharedStateOf(store);
  const inner = shared.sessions();
  const events: string[] = [];
  const workspace = await createWorkspace({
    root,
    clock,
    shared: { ...shared, sessions: () => ({ ...inner, ...change(inner) }) },
    onEvent: (type) => void events.push(type),
  });
  onTestFinished(async () => {
    await workspace.close();
    await store.close();
    await rm(root, { recursive: true, force: true });
  });
  return { root, workspace, events };
}

export async function metadataOf(workspace: Workspace): Promise<SessionMetadata> {
  return {
    version: 1,
    session_id: randomUUID(),
    intent: 'a test',
    target_file: 'a.txt',
    operation: 'create',
    created_at: new Date().toISOString(),
    end_marker: 'DONE',
    final_newline: true,
    target: await workspace.checkTarget('a.txt', 'create'),
  };
}

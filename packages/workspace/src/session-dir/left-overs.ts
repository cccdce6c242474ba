/** Directories that sessions of dead processes left behind. */
import { lstat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { LEASE_TTL_MS } from '../ownership/judge-owner.ts';
import { isSessionId } from '../state-directory.ts';
import type { SessionFinder } from './session-finder.ts';
import type { SessionStoreOptions } from './session-store-options.ts';

/** Removes directories whose process died while it created or removed them. */
export async function removeLeftDirectories(
  finder: SessionFinder,
  { state, clock }: SessionStoreOptions,
): Promise<void> {
  for (const parent of [state.sessions, state.attic]) {
    for (const name of await finder.namesIn(parent)) {
      const match = /^\.(?:new|removed)-(.+)$/u.exec(name);
      if (match === null || !isSessionId((match[1] ?? '').slice(0, 36))) continue;
      const path = join(parent, name);
      const stat = await lstat(path).catch(() => null);
      if (stat === null || !stat.isDirectory()) continue;
      if (name.startsWith('.new-')) {
        if (clock.now() - stat.mtimeMs < LEASE_TTL_MS) continue;
        const found = await finder.inspect(path, match[1] ?? '');
        if (found?.status === 'live' || found?.content) continue;
      }
      await rm(path, { recursive: true, force: true });
    }
  }
}

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { systemClock } from '@orion/contracts';
import { describeSessionStoreContract } from '@orion/testkit';
import { openStore } from '@orion/trace-store';
import { createWorkspace } from '@orion/workspace';
import { onTestFinished } from 'vitest';

import { sharedStateOf } from '../config/sessions-in-store.ts';
import { useTestDatabase } from '../testing/test-database.ts';

/** Hazard: sessions in rows promise something else than sessions in directories. */

const own = useTestDatabase();

describeSessionStoreContract('in Postgres', async ({ isDoomed = false } = {}) => {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-stored-')));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const open = async (): ReturnType<typeof createWorkspace> => {
    const store = openStore({ kind: 'postgres', url: own.url() }, { clock: systemClock });
    const shared = sharedStateOf(store);
    const opened = await createWorkspace({
      root,
      clock: systemClock,
      // Nothing but the database and the files is shared.
      stateDirectory: join(root, `.state-${randomUUID()}`),
      shared,
    });
    onTestFinished(async () => {
      await opened.close();
      await store.close();
    });
    return opened;
  };
  return {
    workspace: await open(),
    read: (path) => readFile(join(root, path), 'utf8').catch(() => null),
    write: async (path, text) => {
      await mkdir(dirname(join(root, path)), { recursive: true });
      await writeFile(join(root, path), text);
    },
    createId: randomUUID,
    async reopen() {
      if (isDoomed) await own.execute('update write_session set beat_at = 0');
      return open();
    },
  };
});

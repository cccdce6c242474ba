import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { systemClock } from '@orion/contracts';
import { describeSessionStoreContract } from '@orion/testkit';
import { createSqlSessionContent, createSqlSharedRecords } from '@orion/trace-store/over-database';
import { createWorkspace } from '@orion/workspace';
import { onTestFinished } from 'vitest';

import { SharedDatabase } from './shared-database.ts';
import { World } from './world.ts';

/** Hazard: the simulation tries sessions in a database that no store is like, and finds what cannot happen, or nothing. */

describeSessionStoreContract(
  'in the database of the simulation',
  async ({ isDoomed = false } = {}) => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-simulated-')));
    const shared = await SharedDatabase.open(new World(1), (sql) => sql);
    const database = shared.direct();
    onTestFinished(async () => {
      shared.close();
      await rm(root, { recursive: true, force: true });
    });
    const open = async (): ReturnType<typeof createWorkspace> => {
      const opened = await createWorkspace({
        root,
        clock: systemClock,
        stateDirectory: join(root, `.state-${randomUUID()}`),
        shared: {
          sessions: () => createSqlSessionContent(database),
          records: () => createSqlSharedRecords(database),
        },
      });
      onTestFinished(() => opened.close());
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
        if (isDoomed) await database.run('update write_session set beat_at = 0');
        return open();
      },
    };
  },
);

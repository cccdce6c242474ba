import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';

import type { AttackOf } from '../attack.ts';
import { playEarlierTurn } from '../earlier.ts';
import { goesOn, goesOnAndNames } from '../holds.ts';
import { createSite, makePipe, makeSparse } from '../site.ts';
import type { Site } from '../site.ts';

/** A store as this version makes it, from another machine and another person. */
async function foreignStore(site: Site): Promise<void> {
  const elsewhere = await createSite(site.command);
  try {
    await playEarlierTurn(elsewhere, 'what somebody else has asked');
    await mkdir(join(site.workspace, '.orion'), { recursive: true });
    await copyFile(
      join(elsewhere.workspace, '.orion', 'orion.db'),
      join(site.workspace, '.orion/orion.db'),
    );
  } finally {
    await elsewhere.dispose();
  }
}

function database(site: Site, sql: string): void {
  const path = join(site.workspace, '.orion/orion.db');
  execFileSync(process.execPath, [
    '--no-warnings',
    '-e',
    `const { DatabaseSync } = require('node:sqlite'); const db = new DatabaseSync(process.argv[1]); db.exec(process.argv[2]); db.close();`,
    path,
    sql,
  ]);
}

/** The database in the state directory. */
export const STORES: readonly AttackOf[] = [
  {
    name: 'a store of somebody else, with a trigger that never ends',
    plant: async (site) => {
      await foreignStore(site);
      database(
        site,
        `CREATE TRIGGER t AFTER INSERT ON turn_event BEGIN
           SELECT count(*) FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r);
         END;`,
      );
    },
    holds: goesOn,
  },
  {
    name: 'a store of somebody else, with orders in its history',
    plant: (site) => foreignStore(site),
    options: ['--continue'],
    exits: [0, 1, 2],
    holds: ({ provider }) =>
      provider.asked.some(({ text }) => text.includes('what somebody else has asked'))
        ? 'went on with it'
        : null,
  },
  {
    name: 'a store whose views never end',
    plant: async (site) => {
      await mkdir(join(site.workspace, '.orion'));
      const endless = `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r`;
      database(
        site,
        `CREATE VIEW turn_event AS ${endless}; CREATE VIEW conversation AS ${endless}; CREATE VIEW schema_migration AS ${endless};`,
      );
    },
    holds: goesOn,
  },
  {
    name: 'a store that is a dangling link to the outside',
    plant: async (site) => {
      await mkdir(join(site.workspace, '.orion'));
      await symlink(join(site.outside, 'new.db'), join(site.workspace, '.orion/orion.db'));
    },
    holds: goesOn,
  },
  {
    name: 'a journal that wants to be played back into the store',
    plant: async (site) => {
      await playEarlierTurn(site);
      const header = Buffer.alloc(512);
      Buffer.from('d9d505f920a163d7000000010000000000000001', 'hex').copy(header);
      header.writeUInt32BE(512, 20);
      header.writeUInt32BE(4096, 24);
      const page = Buffer.alloc(4 + 4096 + 4, 'x');
      page.writeUInt32BE(1);
      await site.plant('workspace/.orion/orion.db-journal', Buffer.concat([header, page]), 0o600);
    },
    holds: goesOnAndNames('.orion/orion.db-journal'),
  },
  {
    name: 'a store that is a pipe',
    plant: async (site) => {
      await mkdir(join(site.workspace, '.orion'));
      makePipe(join(site.workspace, '.orion/orion.db'));
    },
    holds: goesOn,
  },
  {
    name: 'a store of 4 GB of nothing',
    plant: async (site) => {
      await makeSparse(site, '.orion/orion.db', 4 * 1024 ** 3);
    },
    holds: goesOn,
  },
];

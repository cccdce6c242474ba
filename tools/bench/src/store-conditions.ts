import { spawnSync } from 'node:child_process';
import { copyFile, mkdir, rm, statfs, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Clock } from '@orion/contracts';
import { openStore } from '@orion/trace-store';
import { Client } from 'pg';

import { startFaintingServer, startSilentServer } from './silent-servers.ts';

/** A store as a turn finds it. */
export type Condition = {
  readonly name: string;
  /** What it is compared with: the condition of that name, and of none when it is one itself. */
  readonly beside: string | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Puts the state directory of a workspace as it has to be before each turn. */
  readonly prepare?: (stateDirectory: string) => Promise<void>;
};

export type Conditions = {
  readonly conditions: readonly Condition[];
  /** Those that this machine cannot have, and why. */
  readonly missing: readonly string[];
  close(): Promise<void>;
};

const HEALTHY_SQLITE = 'SQLite';
const HEALTHY_POSTGRES = 'Postgres';
const TABLES = ['trace_event', 'conversation', 'conversation_message', 'turn', 'turn_event'];
/** Nobody listens on the port of multiplexed TCP services. */
const STOPPED = 'postgres://nobody@127.0.0.1:1/none';
const SMALL_DISK_KIB = 512;
const LEFT_KIB = 96;

/**
 * Every way in which the store of a turn may be away, and healthy ones to compare with. `url` is a Postgres in which
 * databases may be made.
 */
export async function prepareConditions(
  url: string,
  folder: string,
  clock: Clock,
): Promise<Conditions> {
  const healthy = await makeDatabase(url, 'orion_bench_turns', clock);
  const full = await makeDatabase(url, 'orion_bench_full', clock);
  await execute(full, refuseInserts());
  const silent = await startSilentServer();
  const fainting = await startFaintingServer(healthy, 'insert into turn_event');
  const disk = await fillSmallDisk(folder, clock);
  const at = (port: number): string => {
    const address = new URL(healthy);
    address.hostname = '127.0.0.1';
    address.port = String(port);
    return address.href;
  };
  const postgres = (name: string, DATABASE_URL: string): Condition => ({
    name,
    beside: HEALTHY_POSTGRES,
    environment: { DATABASE_URL },
  });
  return {
    conditions: [
      { name: HEALTHY_SQLITE, beside: null, environment: {} },
      ...(disk === null ? [] : [disk.condition]),
      { ...postgres(HEALTHY_POSTGRES, healthy), beside: null },
      postgres('Postgres stopped', STOPPED),
      postgres('Postgres hung', at(silent.port)),
      postgres('Postgres hangs half-way', at(fainting.port)),
      postgres('Postgres full', full),
    ],
    missing: disk === null ? ['SQLite full: a small disk can be mounted by root alone'] : [],
    async close() {
      silent.close();
      fainting.close();
      disk?.unmount();
      for (const name of ['orion_bench_turns', 'orion_bench_full']) {
        await execute(url, `drop database if exists ${name} with (force)`);
      }
    },
  };
}

async function makeDatabase(server: string, name: string, clock: Clock): Promise<string> {
  await execute(server, `drop database if exists ${name} with (force)`);
  await execute(server, `create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const store = openStore({ kind: 'postgres', url: url.href }, { clock });
  await store.traces.query({ limit: 1 });
  await store.close();
  return url.href;
}

/** As a server answers whose disk is full: what is there can be read, nothing is added. */
function refuseInserts(): string {
  return `create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    ${TABLES.map((table) => `create trigger refuse before insert or update on ${table} for each statement execute function refuse();`).join('\n')}`;
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A disk with a store on it and room for a few rows; null where none can be mounted. */
async function fillSmallDisk(
  folder: string,
  clock: Clock,
): Promise<{ readonly condition: Condition; unmount(): void } | null> {
  const disk = join(folder, 'small-disk');
  await mkdir(disk);
  const mounted = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${SMALL_DISK_KIB}k`,
    'orion-bench',
    disk,
  ]);
  if (mounted.status !== 0) return null;
  const template = join(folder, 'template.db');
  const store = openStore({ kind: 'sqlite', path: template }, { clock });
  await store.traces.query({ limit: 1 });
  await store.close();
  const database = join(disk, 'orion.db');
  const prepare = async (stateDirectory: string): Promise<void> => {
    for (const name of ['orion.db', 'orion.db-wal', 'orion.db-shm', 'filler']) {
      await rm(join(disk, name), { force: true });
    }
    await copyFile(template, database);
    const { bavail, bsize } = await statfs(disk);
    await writeFile(join(disk, 'filler'), Buffer.alloc(bavail * bsize - LEFT_KIB * 1024));
    await mkdir(stateDirectory, { mode: 0o700 });
    await symlink(database, join(stateDirectory, 'orion.db'));
  };
  return {
    condition: { name: 'SQLite full', beside: HEALTHY_SQLITE, environment: {}, prepare },
    unmount: () => spawnSync('umount', [disk]),
  };
}

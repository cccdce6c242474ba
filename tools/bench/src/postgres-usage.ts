import { readFile } from 'node:fs/promises';

import { Client } from 'pg';

/** What a Postgres on this machine has used so far; on Linux only. */
export type PostgresUsage = {
  /** Of all its processes, user and system. */
  readonly cpuMs: number;
  /** What it has written to its log ahead of its tables. */
  readonly walBytes: number;
};

const TICKS_A_SECOND = 100;

/** Asked through one connection to one of its databases. */
export class PostgresMeter {
  readonly #client: Client;
  readonly #postmaster: number;

  private constructor(client: Client, postmaster: number) {
    this.#client = client;
    this.#postmaster = postmaster;
  }

  static async connect(url: string): Promise<PostgresMeter> {
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const [, parent = ''] = (await statOf(rows[0]?.pid ?? 0)) ?? [];
    return new PostgresMeter(client, Number(parent));
  }

  async usage(): Promise<PostgresUsage> {
    const { wal } = await this.#row("select pg_current_wal_insert_lsn() - '0/0' as wal");
    return { cpuMs: await this.#cpuMs(), walBytes: Number(wal) };
  }

  /** With its indexes and everything else. */
  async bytesOf(table: string): Promise<number> {
    const row = await this.#row(`select pg_total_relation_size('${table}') as bytes`);
    return Number(row['bytes']);
  }

  async versionAndSettings(): Promise<string> {
    const row = await this.#row(
      `select current_setting('server_version') as version, current_setting('fsync') as fsync,
         current_setting('shared_buffers') as buffers`,
    );
    return `Postgres ${row['version']}, fsync ${row['fsync']}, shared_buffers ${row['buffers']}`;
  }

  async run(sql: string): Promise<void> {
    await this.#client.query(sql);
  }

  async close(): Promise<void> {
    await this.#client.end();
  }

  async #row(sql: string): Promise<Readonly<Record<string, string>>> {
    const { rows } = await this.#client.query<Record<string, string>>(sql);
    return rows[0] ?? {};
  }

  /** Those that have ended count with the postmaster, which has waited for them. */
  async #cpuMs(): Promise<number> {
    const path = `/proc/${this.#postmaster}/task/${this.#postmaster}/children`;
    const children = (await readFile(path, 'utf8')).split(' ').filter(Boolean).map(Number);
    let ticks = 0;
    for (const pid of children) {
      const fields = (await statOf(pid)) ?? [];
      ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
    }
    const own = (await statOf(this.#postmaster)) ?? [];
    for (const field of own.slice(11, 15)) ticks += Number(field);
    return (ticks * 1000) / TICKS_A_SECOND;
  }
}

/** The fields of `/proc/<pid>/stat` behind the name, from the state on; null of a process that is gone. */
async function statOf(pid: number): Promise<readonly string[] | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

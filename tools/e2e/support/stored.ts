import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { openStore } from '@orion/trace-store';

import type { Sandbox } from './sandbox.ts';

export type LoggedEvent = {
  readonly seq: number;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
};

/** The turn log's rows of one turn, read by nothing of ours. */
export function loggedEvents(machine: Sandbox, turnId: string): readonly LoggedEvent[] {
  const database = new DatabaseSync(machine.path('.orion', 'orion.db'), { readOnly: true });
  try {
    return database
      .prepare(
        `select seq, kind, data from turn join turn_event using (turn_no)
         where turn_id = ? order by seq`,
      )
      .all(turnId)
      .map((row) => ({
        seq: Number(row['seq']),
        kind: String(row['kind']),
        data: JSON.parse(String(row['data'])) as LoggedEvent['data'],
      }));
  } finally {
    database.close();
  }
}

/** The numbers and types of one turn's events in a Postgres. */
export async function loggedKinds(
  url: string,
  turnId: string,
): Promise<readonly (readonly [seq: number, kind: string])[]> {
  const clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    schedule: () => () => undefined,
  };
  const store = openStore({ kind: 'postgres', url }, { clock, create: false });
  try {
    return (await store.turnLog.read(turnId, 0, 10_000)).map(({ seq, kind }) => [seq, kind]);
  } finally {
    await store.close();
  }
}

/** So many newer conversations that say the same. */
export function copyConversation(machine: Sandbox, conversationId: string, count: number): void {
  const database = new DatabaseSync(machine.path('.orion', 'orion.db'));
  try {
    const columns = database
      .prepare('select name from pragma_table_info(?)')
      .all('conversation')
      .map(({ name }) => String(name));
    const changed: Readonly<Record<string, string>> = {
      conversation_id: `'copy-' || number`,
      updated_at: 'updated_at + number',
    };
    database.exec(
      `with recursive numbers (number) as
         (select 1 union all select number + 1 from numbers where number < ${count})
       insert into conversation (${columns.join(', ')})
       select ${columns.map((name) => changed[name] ?? name).join(', ')}
       from conversation, numbers where conversation_id = '${conversationId}'`,
    );
  } finally {
    database.close();
  }
}

/** As if everything in the turn log had happened so many days ago. */
export function ageTurns(machine: Sandbox, days: number): void {
  const database = new DatabaseSync(machine.path('.orion', 'orion.db'));
  try {
    const earlier = (time: string): string => `${time} = ${time} - ${days * 86_400_000}`;
    database.exec(
      `update turn set ${['active_at', 'created_at', 'finished_at'].map(earlier).join(', ')}`,
    );
  } finally {
    database.close();
  }
}

/** Every byte of the store's files. */
export async function storeBytes(machine: Sandbox): Promise<Buffer> {
  const folder = machine.path('.orion');
  const names = (await readdir(folder)).filter((name) => name.startsWith('orion.db'));
  return Buffer.concat(await Promise.all(names.map((name) => readFile(join(folder, name)))));
}

type Listed = { readonly conversationId: string; readonly openSessionId: string | null };

/** As `orion conversations list --json` lists them. */
export async function conversations(
  machine: Sandbox,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly Listed[]> {
  const { stdout } = await machine.run(['conversations', 'list', '--json'], { env });
  return (JSON.parse(stdout) as { readonly conversations: readonly Listed[] }).conversations;
}

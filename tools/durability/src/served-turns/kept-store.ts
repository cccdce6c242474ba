/** A copy of a SQLite store, and its return: what a failover to a standby that was behind does to a Postgres. */
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';

const storeOf = (workspace: string): string => join(workspace, '.orion', 'orion.db');
const copyOf = (workspace: string): string => join(workspace, '..', 'kept.db');

/** Synchronous: what the store holds now, and not a moment later. @returns the last event of its one turn */
export function keep(workspace: string): number {
  const store = new DatabaseSync(storeOf(workspace), { readOnly: true, timeout: 10_000 });
  store.prepare('vacuum into ?').run(copyOf(workspace));
  store.close();
  const copy = new DatabaseSync(copyOf(workspace), { readOnly: true });
  const last = copy.prepare('select max(last_seq) as seq from turn').get();
  copy.close();
  return Number(last?.['seq']);
}

/** In place, for whoever has it open. */
export async function restore(workspace: string): Promise<void> {
  const copy = new DatabaseSync(copyOf(workspace), { readOnly: true });
  await backup(copy, storeOf(workspace));
  copy.close();
}

import { systemClock } from '@orion/contracts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MIGRATIONS } from '../migrations/migrations.ts';
import { openStore } from '../open-store.ts';
import { isSchemaSmall } from './schema-bounds.ts';
import { inspectSqlite } from './sqlite.ts';

/**
 * Hazard: two turns at once, and the second one takes the store for somebody else's, since it looked at a page of the
 * journal of which the first one had written only the half.
 */

/** A frame of the first page, with a leaf of far more objects than a schema of ours has. */
function halfWrittenJournal(): Buffer {
  const journal = Buffer.alloc(32 + 24 + 4096);
  journal.writeUInt32BE(1, 32);
  const page = 32 + 24;
  journal[page + 100] = 0x0d;
  journal.writeUInt16BE(0xffff, page + 103);
  return journal;
}

test('a page that another process is writing is looked at again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orion-store-'));
  try {
    const path = join(folder, 'orion.db');
    const store = openStore({ kind: 'sqlite', path }, { clock: systemClock });
    await store.turnLog.acquire('turn-1', 1);
    await store.close();
    writeFileSync(`${path}-wal`, halfWrittenJournal());
    expect(isSchemaSmall(path)).toBe(false);

    const inspected = inspectSqlite(path);
    rmSync(`${path}-wal`);

    expect(await inspected).toMatchObject({ kind: 'ours', version: MIGRATIONS.length });
    writeFileSync(`${path}-wal`, halfWrittenJournal());
    expect(await inspectSqlite(path)).toEqual({ kind: 'other' });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

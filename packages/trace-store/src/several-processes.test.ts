import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openSqlite } from './engine/sqlite.ts';

const PROCESSES = 4;
const BATCHES = 400;
const script = fileURLToPath(new URL('testing/write-in-a-process.ts', import.meta.url));

test('four processes make one SQLite file and write to it: every row is there, and the file is sound', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orion-store-'));
  const path = join(folder, 'orion.db');
  try {
    await Promise.all(
      Array.from({ length: PROCESSES }, (_, worker) =>
        promisify(execFile)(process.execPath, [
          '--conditions=@orion/source',
          script,
          path,
          String(worker),
          String(BATCHES),
        ]),
      ),
    );
    const database = await openSqlite(path);
    const counts = await database.all(
      'select turn_id, count(*) as events, max(seq) as last from turn_event group by turn_id',
    );
    expect(counts.map((row) => [row['events'], row['last']])).toEqual(
      Array.from({ length: PROCESSES }, () => [BATCHES * 10, BATCHES * 10]),
    );
    const conversations = await database.all('select * from conversation');
    expect(conversations).toHaveLength(PROCESSES);
    expect(await database.all('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(await database.all('select version from schema_step')).toHaveLength(1);
    await database.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 30_000);

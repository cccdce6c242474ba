import { systemClock } from '@orion/contracts';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { openSqlite } from './engine/sqlite.ts';
import { MIGRATIONS } from './migrations/migrations.ts';
import { openStore } from './open-store.ts';

const PROCESSES = 4;
const BATCHES = 400;
const script = fileURLToPath(new URL('testing/write-in-a-process.ts', import.meta.url));

test(
  'four processes make one SQLite file and write to it: every row is there, and the file is sound',
  { tags: ['long'], timeout: 30_000 },
  async () => {
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
        'select turn_no, count(*) as events, max(seq) as last from turn_event group by turn_no',
      );
      expect(counts.map((row) => [row['events'], row['last']])).toEqual(
        Array.from({ length: PROCESSES }, () => [BATCHES * 10, BATCHES * 10]),
      );
      const conversations = await database.all('select * from conversation');
      expect(conversations).toHaveLength(PROCESSES);
      expect(await database.all('pragma integrity_check')).toEqual([{ integrity_check: 'ok' }]);
      expect(await database.all('select version from schema_step')).toHaveLength(MIGRATIONS.length);
      await database.close();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test('a process that is killed while it writes: what was acknowledged is there, in whole batches', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'orion-store-'));
  const path = join(folder, 'orion.db');
  try {
    const writer = spawn(
      process.execPath,
      ['--conditions=@orion/source', script, path, '1', '1000000'],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let said = '';
    writer.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.split('\n').length > 200) writer.kill('SIGKILL');
    });
    await once(writer, 'close');
    const acknowledged = Number(said.trimEnd().split('\n').at(-1));

    const store = openStore({ kind: 'sqlite', path }, { clock: systemClock });
    const seqs: number[] = [];
    for (let after = 0; ; after = seqs.length) {
      const entries = await store.turnLog.read('turn-1', after);
      if (entries.length === 0) break;
      seqs.push(...entries.map((entry) => entry.seq));
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(seqs.length).toBeGreaterThanOrEqual(acknowledged);
    expect(seqs.length % 10).toBe(0);
    // Another writer takes over where the log stands.
    const { epoch } = await store.turnLog.acquire('turn-1', 2);
    const next = seqs.length + 1;
    await store.turnLog.append('turn-1', epoch, next, [{ seq: next, kind: 'done', data: null }]);
    await store.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 30_000);

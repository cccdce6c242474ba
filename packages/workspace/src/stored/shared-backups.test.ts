import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { OrionError } from '@orion/contracts';
import type { SharedRecords } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, onTestFinished, test } from 'vitest';

import type { BackupManifest } from '../commit/backup-manifest.ts';
import { SharedBackups } from './shared-backups.ts';

/** Hazard: a write is given up, or backed up in part, because the store was away for a moment. */

test.each([
  ['waits while the store is away', true, 3],
  ['fails at once where the store refuses it', false, 1],
])('a backup %s', async (_, retryable, expected) => {
  const folder = await mkdtemp(join(tmpdir(), 'orion-backups-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const content = join(folder, 'content');
  await writeFile(content, 'what was replaced');
  const clock = createFakeClock();
  const puts: string[] = [];
  const put: SharedRecords['put'] = async (_place, _name, _text, bytes) => {
    let read = '';
    for await (const piece of bytes ?? []) read += Buffer.from(piece).toString();
    puts.push(read);
    if (puts.length < 3)
      throw new OrionError({ code: 'STORE_UNAVAILABLE', message: 'away', retryable });
  };
  const backups = new SharedBackups({
    records: () => ({ put }) as SharedRecords,
    root: '/w',
    clock,
    isOpen: () => Promise.resolve(false),
  });
  const stored = backups.put({ id: 'b' } as BackupManifest, content).then(
    () => 'stored',
    () => 'refused',
  );
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return Promise.race([stored, Promise.resolve('waits')]);
    })
    .toBe(retryable ? 'stored' : 'refused');
  // From its beginning each time.
  expect(puts).toEqual(Array.from({ length: expected }, () => 'what was replaced'));
});

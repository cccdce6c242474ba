// @module-tag long
import { link, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import { numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: a process that was taken for dead comes back while another one has its session. */

const TEXT = numbered('a line of the document with number', 1, 100);

test.concurrent('R058, R060, R077: a process whose session was taken over leaves it alone, exit 4', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeDocument(
      { target: 'a.txt', content: TEXT },
      { faults: [{ kind: 'stall', reply: 1, at: { lines: 40 } }] },
    ),
  );
  const writer = machine.startAsking(provider, ['--json'], {
    env: { WRITE_SESSION_SAVE_MS: '50' },
  });
  const saved = TEXT.split('\n').slice(0, 40).join('\n');
  const session = await machine.savedSession(saved.length);
  const before = String(await session.content());
  const lease = join(session.directory, 'lease.json');
  const record = JSON.parse(await readFile(lease, 'utf8')) as { readonly token: string };
  const winner = join(session.directory, 'winner');
  await writeFile(winner, JSON.stringify({ ...record, token: 'f'.repeat(32), host: 'elsewhere' }));
  await link(winner, join(session.directory, `claim-${record.token}`));

  const ended = await writer.finished;

  expect(ended.exitCode, ended.stderr).toBe(4);
  expect(ended.result()).toMatchObject({ status: 'error', exitCode: 4, receipts: [] });
  expect(ended.events().at(-1)).toMatchObject({ type: 'done', status: 'error' });
  expect(await machine.exists('a.txt')).toBe(false);
  expect(String(await session.content())).toBe(before);
  expect(JSON.parse(await readFile(lease, 'utf8'))).toMatchObject({ token: record.token });
});

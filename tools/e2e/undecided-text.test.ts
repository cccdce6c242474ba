import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import { numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const TEXT = numbered('a line of the document with number', 1, 60);

test('R048: text whose place was undecided at the kill is never content; it is kept and named', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeDocument(
      { target: 'a.txt', content: TEXT },
      {
        shape: { chunk: 10 },
        faults: [
          { kind: 'length', reply: 1, at: { lines: 30 } },
          // Before the anchor is complete.
          { kind: 'stall', reply: 2, at: { characters: 30 }, times: 1 },
        ],
      },
    ),
  );
  const writer = machine.startAsking(provider);
  const session = await waitFor('a session', async () => (await machine.sessions())[0]);
  const pending = join(session.directory, 'pending.txt');
  await waitFor(
    'undecided text',
    async () => ((await stat(pending).catch(() => null))?.size ?? 0) > 0,
  );
  writer.kill('SIGKILL');
  await writer.finished;
  // Its first line says behind which byte it came.
  const undecided = (await readFile(pending, 'utf8')).replace(/^follows \d+\n/u, '');
  expect(undecided).toContain('a line');

  const ended = await machine.run(['recover-session', session.id, '--json']);

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe(TEXT);
  // R071: the receipt says where it is.
  const trailing = ended.result().receipts[0]?.trailing ?? '';
  expect(trailing).toContain(session.id);
  const kept = await readdir(machine.path('.orion', 'attic', session.id));
  expect(kept.length).toBeGreaterThan(0);
  expect(await readFile(trailing, 'utf8')).toContain(undecided);
});

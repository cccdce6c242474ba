import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import { sent } from './support/requests.ts';
import { beginCall, LAST_WORD, numbered, sha256, writePieces } from './support/scripts.ts';
import { test } from './support/test.ts';

const TEXT = numbered('line', 1, 240);

test('A1: a file in 7-byte pieces whose marker comes as D, ON, E is exact and nowhere else', async ({
  machine,
}) => {
  const pieces = [...(TEXT.match(/[\s\S]{1,7}/gu) ?? []), 'D', 'ON', 'E'];
  const provider = await machine.provider({
    behaviours: [
      ...writePieces('docs/n.txt', pieces),
      {
        name: 'second document',
        when: { toolChoice: 'none' },
        reply: { text: 'second\nDONE\n' },
      },
      beginCall({ target_file: 'docs/second.txt' }, 1),
      LAST_WORD,
    ],
  });

  const ended = await machine.ask(provider, ['--json', '--verbose']);

  expect(ended.stderr).not.toContain('Error');
  expect(ended.exitCode).toBe(0);
  const bytes = await machine.read('docs/n.txt');
  expect(bytes.length).toBe(2052);
  expect(sha256(bytes)).toBe('c7632900127f200879a7466edccfc60ed8333efc1c4c8dd917d21aa8e9359127');
  expect(String(await machine.read('docs/second.txt'))).toBe('second\n');

  const [receipt, second] = ended.result().receipts;
  expect(receipt).toMatchObject({
    target_file: 'docs/n.txt',
    lines: 240,
    bytes: 2052,
    sha256: sha256(TEXT),
    seams: [],
    validation_summary: { used_safe_replacement: false },
  });
  expect(second?.target_file).toBe('docs/second.txt');
  const calls = ended
    .events()
    .flatMap((event) => (event.type === 'tool_calls' ? event.calls : []))
    .filter((call) => call.arguments.includes('docs/n.txt'));
  expect(calls).toHaveLength(1);

  // R014, R090, R230: what was captured is in the file and nowhere else.
  expect(ended.stdout).not.toContain('line 120');
  expect(ended.stderr).toContain('write_session_finalized');
  expect(ended.stderr).not.toContain('line 120');
  expect(await machine.sessions()).toEqual([]);
  const kept = await textsBelow(machine.path('.orion'));
  expect(kept.filter((text) => text.includes('line 120'))).toEqual([]);
  expect(JSON.stringify(sent(provider.requests).at(-1))).not.toContain('line 120');
});

async function textsBelow(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => readFile(join(entry.parentPath, entry.name), 'utf8')),
  );
}

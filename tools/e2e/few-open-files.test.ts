// @module-tag long
import { spawnSync } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect } from 'vitest';

import { writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

/** Hazard: where hardly a file can be opened, the command dies silently, or loses the text. */

const COMMAND = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));
const TEXT = 'one\ntwo\n';

test('with 20 open files Node itself ends in a fault, and the guide says so', async ({ skip }) => {
  skip(process.platform !== 'linux', 'elsewhere Node needs another number');
  const command = `ulimit -n 20; exec '${process.execPath}' '${COMMAND}' --version`;
  const ended = spawnSync('/bin/sh', ['-c', command]);
  if (ended.signal === null && ended.status === 0) return;
  const guide = await readFile(new URL('../../docs/guides/durability.md', import.meta.url), 'utf8');
  expect(guide).toContain('crashes below that (`ulimit -n 20`)');
});

test.for([24, 29, 256])(
  'with %i open files: the file is written, or the command says why, and keeps the text that it has',
  async (limit, { machine, skip }) => {
    skip(process.platform === 'win32', 'there is no ulimit');
    const node = join(machine.root, 'node');
    await writeFile(node, `#!/bin/sh\nulimit -n ${limit}\nexec '${process.execPath}' "$@"\n`);
    await chmod(node, 0o755);
    const provider = await machine.provider(writeMessages('a.txt', [`${TEXT}DONE`]));

    const ended = await machine.ask(provider, ['--json'], { node });

    expect(ended.signal, ended.stderr).toBeNull();
    expect(ended.stdout + ended.stderr).not.toContain('INTERNAL_ERROR');
    if (limit === 256) expect(ended.exitCode, ended.stderr).toBe(0);
    if (await machine.exists('a.txt')) {
      expect(String(await machine.read('a.txt'))).toBe(TEXT);
      expect(ended.exitCode, ended.stderr).toBe(0);
      return;
    }
    expect(ended.stdout + ended.stderr).toContain('(EMFILE)');
    const [paused] = ended.result().paused;
    if (paused === undefined) return;
    const [session] = await machine.sessions();
    expect(paused.bytes).toBe(TEXT.length);
    expect(String(await session?.content())).toBe(TEXT);
  },
);

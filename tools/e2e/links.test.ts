import { link, lstat, mkdir, symlink } from 'node:fs/promises';
import { expect } from 'vitest';

import { lastToolMessage } from './support/requests.ts';
import { writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

test.concurrent('R248: a symbolic link inside the workspace is written through', async ({
  machine,
}) => {
  await mkdir(machine.path('real'));
  await machine.write('real/file.txt', 'before\n');
  await symlink('real/file.txt', machine.path('link.txt'));
  const provider = await machine.provider(
    writeMessages('link.txt', ['after\nDONE'], { operation: 'overwrite' }),
  );
  const ended = await machine.ask(provider);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('real/file.txt'))).toBe('after\n');
  expect((await lstat(machine.path('link.txt'))).isSymbolicLink()).toBe(true);
});

test.concurrent('R248: a hard link is refused, unless it is allowed', async ({ machine }) => {
  await machine.write('one.txt', 'before\n');
  await link(machine.path('one.txt'), machine.path('two.txt'));
  const script = writeMessages('one.txt', ['after\nDONE'], { operation: 'overwrite' });
  const provider = await machine.provider(script);
  const refused = await machine.ask(provider);
  expect(refused.exitCode, refused.stderr).toBe(0);
  expect(lastToolMessage(provider.requests)).toContain('HARD_LINK');
  expect(String(await machine.read('one.txt'))).toBe('before\n');

  const allowed = await machine.ask(await machine.provider(script), [
    '--allow-hard-link',
    '--json',
  ]);
  expect(allowed.exitCode, allowed.stderr).toBe(0);
  expect(String(await machine.read('one.txt'))).toBe('after\n');
  expect(String(await machine.read('two.txt'))).toBe('before\n');
  expect(allowed.result().receipts[0]?.not_kept).toEqual(['hard_link']);
});

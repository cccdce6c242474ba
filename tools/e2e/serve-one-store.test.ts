// @module-tag long
// One process serves a store: a second one says who has it, and a killed one does not keep it.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import { serve } from './support/serve.ts';
import { test } from './support/test.ts';

const PROVIDER = ['--model', 'none', '--base-url', 'http://127.0.0.1:1'];

test.concurrent('a second server of a store exits 4 and names the first', async ({ machine }) => {
  const first = await serve(machine);
  const { exitCode, stdout, stderr } = await machine.run(['serve', '--port', '0', ...PROVIDER]);
  expect([exitCode, stdout]).toEqual([4, '']);
  expect(stderr).toContain('STORE_IN_USE');
  expect(stderr).toContain(first.url);
  expect(stderr).toContain(String(first.running.pid));
  // The first is not disturbed, and its address is still announced.
  expect((await first.ask('/health/ready', { token: null })).status).toBe(200);
  expect(String(await machine.read('.orion/server/server.json'))).toContain(first.url);
});

test.concurrent('after a kill the next one starts', async ({ machine }) => {
  const first = await serve(machine);
  first.running.kill('SIGKILL');
  await first.running.finished;
  const second = await serve(machine);
  expect((await second.ask('/health/ready', { token: null })).status).toBe(200);
});

test.concurrent('two workspaces have two servers', async ({ machine }) => {
  await mkdir(join(machine.root, 'other'));
  await serve(machine);
  const other = await serve(machine, ['-C', join(machine.root, 'other')]);
  expect((await other.ask('/metrics')).status).toBe(200);
});

test.concurrent('a store that is not this user’s is not served', async ({ machine }) => {
  await machine.run(['outputs', 'store', '-'], { stdin: '{}' });
  const { exitCode, stderr } = await machine.run(['serve', '--port', '0', ...PROVIDER], {
    env: { XDG_CONFIG_HOME: join(machine.home, 'of-somebody-else') },
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('STORE_FOREIGN');
});

test.concurrent('a store that cannot be reached is not served', async ({ machine }) => {
  await mkdir(join(machine.home, '.config/orion'), { recursive: true });
  await writeFile(join(machine.home, '.config/orion/config.json'), '{}');
  const secret = 'a-password-of-the-database';
  const { exitCode, stderr } = await machine.run(['serve', '--port', '0', ...PROVIDER], {
    env: { DATABASE_URL: `postgres://orion:${secret}@127.0.0.1:1/none` },
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('STORE_UNAVAILABLE');
  expect(stderr).toContain('Check the database and DATABASE_URL, then start again.');
  expect(stderr).not.toContain(secret);
});

import { chmod, mkdir } from 'node:fs/promises';

import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import { LAST_WORD } from './support/scripts.ts';
import { longTest, test } from './support/test.ts';

/** Hazard: a set-up cannot work, and its user learns it from a turn that fails. */

type Found = { readonly area: string; readonly status: string; readonly message: string };

const found = (stdout: string): readonly Found[] =>
  (JSON.parse(stdout) as { readonly findings: readonly Found[] }).findings;

test.concurrent('finds nothing wrong with a good set-up, and leaves nothing behind', async ({
  machine,
}) => {
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  const ended = await machine.run(['doctor', '--json', ...at(provider)]);
  expect(ended.exitCode, ended.stdout).toBe(0);
  const areas = found(ended.stdout).map(({ area }) => area);
  expect(areas).toEqual([
    'node',
    'configuration',
    'state',
    'disk',
    'store',
    'sessions',
    'provider',
    'sandbox',
  ]);
  expect(found(ended.stdout).filter(({ status }) => status === 'problem')).toEqual([]);
  expect(provider.requests).toEqual([]);
  expect(await machine.exists('.orion')).toBe(false);
});

longTest('asks the provider with --online, and says what it answered', async ({ machine }) => {
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  const good = await machine.run(['doctor', '--online', ...at(provider)]);
  expect(good.exitCode, good.stdout).toBe(0);
  expect(good.stdout).toMatch(/^ok +provider +openai, scripted, \S+ answered within \d+ ms$/mu);
  expect(provider.requests).toHaveLength(1);
  const bad = await machine.run([
    'doctor',
    '--online',
    '--base-url',
    'http://127.0.0.1:1',
    '--model',
    'm',
  ]);
  expect(bad.exitCode).toBe(1);
  expect(bad.stdout).toMatch(/^problem +provider .*PROVIDER_UNREACHABLE/mu);
});

longTest('says of a sandbox whose trial takes too long what to do', async ({ machine }) => {
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  await machine.write('bin/bwrap', '#!/bin/sh\nexec sleep 30\n');
  await chmod(machine.path('bin/bwrap'), 0o755);
  const env = { PATH: `${machine.path('bin')}:${process.env['PATH']}` };
  const ended = await machine.run(['doctor', '--json', ...at(provider)], { env });
  expect(ended.exitCode).toBe(1);
  expect(found(ended.stdout).at(-1)).toMatchObject({
    area: 'sandbox',
    status: 'problem',
    code: 'TOOL_FAILED',
    hint: 'Try again; the sandbox is tried anew.',
  });
});

test.concurrent('says what to do about what is missing, in the words of the command', async ({
  machine,
}) => {
  const ended = await machine.run(['doctor']);
  expect(ended.exitCode).toBe(1);
  expect(ended.stdout).toMatch(
    /^problem +provider .*\(MODEL_MISSING\)\n +→ Name a model with --model/mu,
  );
});

test.concurrent('names a wrong setting and looks no further', async ({ machine }) => {
  const env = { WRITE_SESSION_IDLE_MS: 'soon' };
  const ended = await machine.run(['doctor', '--json'], { env });
  expect(ended.exitCode).toBe(1);
  expect(found(ended.stdout).at(-1)).toMatchObject({ area: 'configuration', status: 'problem' });
  expect(found(ended.stdout).at(-1)?.message).toContain('WRITE_SESSION_IDLE_MS');
});

test.concurrent('finds interrupted sessions, a store of somebody else, and a file in place of the state', async ({
  machine,
}) => {
  await machine.write('.orion/orion.db', 'no database');
  const foreign = await machine.run([
    'doctor',
    '--json',
    '--model',
    'm',
    '--base-url',
    'http://127.0.0.1:1',
  ]);
  expect(found(foreign.stdout).find(({ area }) => area === 'store')?.status).not.toBe('ok');
  await machine.write('state', 'a file');
  const env = { ORION_STATE_DIR: 'state' };
  const file = await machine.run(
    ['doctor', '--json', '--model', 'm', '--base-url', 'http://127.0.0.1:1'],
    { env },
  );
  expect(file.exitCode).toBe(1);
  expect(found(file.stdout).find(({ area }) => area === 'state')).toMatchObject({
    status: 'problem',
  });
});

test.skipIf(process.getuid?.() === 0)(
  'finds a state directory that cannot be written',
  async ({ machine }) => {
    await mkdir(machine.path('locked'));
    await chmod(machine.path('locked'), 0o500);
    const env = { ORION_STATE_DIR: 'locked/state' };
    const ended = await machine.run(['doctor', '--json', '--model', 'm'], { env });
    await chmod(machine.path('locked'), 0o700);
    expect(found(ended.stdout).find(({ area }) => area === 'state')).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('cannot be written'),
    });
  },
);

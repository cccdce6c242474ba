// @module-tag long
import { chmod, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';

import type { Sandbox } from './support/sandbox.ts';
import { sha256, writeMessages } from './support/scripts.ts';
import { test } from './support/test.ts';

const BEFORE = '#!/bin/sh\necho before\n';

test.concurrent('R246: overwrite keeps the mode, and the previous bytes under the receipt’s backup id', async ({
  machine,
}) => {
  await machine.write('run.sh', BEFORE);
  await chmod(machine.path('run.sh'), 0o750);
  const provider = await machine.provider(
    writeMessages('run.sh', ['#!/bin/sh\necho after\nDONE'], { operation: 'overwrite' }),
  );
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('run.sh'))).toBe('#!/bin/sh\necho after\n');
  expect((await stat(machine.path('run.sh'))).mode & 0o777).toBe(0o750);
  const [receipt] = ended.result().receipts;
  expect(receipt).toMatchObject({ operation: 'overwrite', mode: '0750', not_kept: [] });
  expect(await backups(machine, receipt?.backup_id)).toContain(BEFORE);
});

test.concurrent('R109: append adds exactly these bytes; the receipt’s hash is of the whole file', async ({
  machine,
}) => {
  await machine.write('log.txt', 'first\n');
  const provider = await machine.provider(
    writeMessages('log.txt', ['second\nthird\nDONE'], { operation: 'append' }),
  );
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  const bytes = await machine.read('log.txt');
  expect(String(bytes)).toBe('first\nsecond\nthird\n');
  const [receipt] = ended.result().receipts;
  expect(receipt).toMatchObject({
    operation: 'append',
    bytes: 13,
    lines: 2,
    sha256: sha256(bytes),
  });
  expect(await backups(machine, receipt?.backup_id)).toContain('first\n');
});

test.concurrent('A5, R298: an append that continues the last line says so, to the model, in the line and in the receipt', async ({
  machine,
}) => {
  await machine.write('a.txt', 'last line');
  const messages = writeMessages('a.txt', ['more\nDONE'], { operation: 'append' });
  const provider = await machine.provider(messages);
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.result().receipts[0]?.warnings).toEqual(['joined_without_newline']);
  expect(JSON.stringify(provider.requests[1])).toContain(String.raw`\"ends_without_newline\":true`);
  expect(String(await machine.read('a.txt'))).toBe('last linemore\n');

  await machine.write('a.txt', 'last line');
  const said = await machine.ask(await machine.provider(messages));
  expect(said.stderr).toMatch(/^Appended to a\.txt: 1 line, .*; warning: joined_without_newline/mu);

  await machine.write('a.txt', 'last line');
  const begin = { start_on_new_line: true };
  const fresh = await machine.ask(
    await machine.provider(writeMessages('a.txt', ['more\nDONE'], { operation: 'append', begin })),
    ['--json'],
  );
  expect(fresh.result().receipts[0]).toMatchObject({ lines: 1, warnings: [] });
  expect(String(await machine.read('a.txt'))).toBe('last line\nmore\n');
});

test.concurrent('R276, R279: what a Latin-1 file cannot take stays saved, and the printed commands work', async ({
  machine,
}) => {
  const latin1 = Buffer.from('Grüße\n', 'latin1');
  await machine.write('a.txt', latin1);
  const ended = await machine.ask(
    await machine.provider(writeMessages('a.txt', ['né\nDONE'], { operation: 'append' })),
  );
  expect(ended.exitCode, ended.stderr).toBe(3);
  expect(ended.stderr).toContain('Paused (TARGET_NOT_UTF8): a.txt is not written yet.');
  expect(await machine.read('a.txt')).toEqual(latin1);
  const commands = [...ended.stderr.matchAll(/^ {2}orion (.+)$/gmu)].map(([, command]) => command);
  expect(commands.map((command) => command?.replace(/ [0-9a-f-]{36} /u, ' <id> '))).toEqual([
    'recover-session <id> --out saved.txt',
    'recover-session <id> --discard',
  ]);
  for (const command of commands) {
    const done = await machine.run((command ?? '').split(' '));
    expect(done.exitCode, done.stderr).toBe(0);
  }
  expect(String(await machine.read('saved.txt'))).toBe('né\n');
});

test.concurrent('R110: overwrite of a file that is not there creates it, with a warning', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeMessages('new.txt', ['new\nDONE'], { operation: 'overwrite' }),
  );
  const ended = await machine.ask(provider, ['--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('new.txt'))).toBe('new\n');
  expect(ended.result().receipts[0]?.warnings).toContain('created_missing');
});

test.concurrent('R029: final_newline false leaves the last line ending out', async ({
  machine,
}) => {
  const provider = await machine.provider(
    writeMessages('a.txt', ['one\ntwo\nDONE'], { begin: { final_newline: false } }),
  );
  const ended = await machine.ask(provider);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('a.txt'))).toBe('one\ntwo');
});

test.concurrent('.orion ignores itself for git', async ({ machine }) => {
  const provider = await machine.provider(writeMessages('a.txt', ['one\nDONE']));
  await machine.ask(provider);
  expect(String(await machine.read('.orion/.gitignore')).trim()).toBe('*');
  expect((await stat(machine.path('.orion', 'logs', 'write_sessions'))).mode & 0o777).toBe(0o700);
});

/** Everything that is kept under a backup's id. */
async function backups(machine: Sandbox, id: string | undefined): Promise<readonly string[]> {
  expect(id).toBeDefined();
  const folder = machine.path('.orion', 'backups', id ?? '');
  const names = await readdir(folder);
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}

// @module-tag long
// docs/guides/server.md: its commands are run, and its files are those of the programs that read them.
import { execFile, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { describe, expect } from 'vitest';

import { at } from './support/sandbox.ts';
import type { Sandbox } from './support/sandbox.ts';
import { LAST_WORD, writeDocument } from './support/scripts.ts';
import { framesOf, serve } from './support/serve.ts';
import { waitFor } from './support/wait.ts';
import { test } from './support/test.ts';

const run = promisify(execFile);
const GUIDE = fileURLToPath(new URL('../../docs/guides/server.md', import.meta.url));
const commands = async (): Promise<readonly string[]> =>
  (await blocks('sh')).filter((block) => block.includes('curl'));
const shellIn =
  ({ workspace: cwd }: Pick<Sandbox, 'workspace'>) =>
  async (script: string): Promise<string> =>
    (await run('bash', ['-euc', script], { cwd })).stdout;
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined;

/** The blocks of a language, in their order. */
async function blocks(language: string): Promise<readonly string[]> {
  const text = await readFile(GUIDE, 'utf8');
  const fence = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gmu');
  return [...text.matchAll(fence)].map(([, block = '']) => block);
}

describe.skipIf(!has('curl') || !has('bash'))('its commands', () => {
  test('start a turn, read it again from any place, and find the token', async ({ machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const { url } = await serve(machine, at(provider), { env: { ORION_SERVER_TOKEN: '' } });
    const asked = (await commands()).slice(0, 4);
    const [first = '', message = '', again = '', cancel = ''] = asked;
    const shell = shellIn(machine);
    const places = first.replace('http://127.0.0.1:4310', url);
    expect(JSON.parse(await shell(places))).toMatchObject({ conversations: [] });
    const known = places.replaceAll(/^curl .*$/gmu, '');
    expect(framesOf(await shell(known + message)).at(-1)?.event).toBe('done');
    // The whole turn, and then what follows its second event.
    const frames = framesOf(await shell(known + again)).map(({ id }) => Number(id?.split('.')[0]));
    const last = Math.max(...frames);
    const numbers = (from: number): number[] =>
      Array.from({ length: last + 1 - from }, (_, index) => from + index);
    expect(frames).toEqual([...numbers(1), ...numbers(3)]);
    // The same key finds the same turn, which is over.
    expect(await shell(`${known}${again}${cancel}`)).toContain('TURN_FINISHED');
  });

  test('show what a turn waits for, and decide', async ({ machine }) => {
    const provider = await machine.provider(writeDocument({ target: 'a.txt', content: 'a\n' }));
    const options = [...at(provider), '--approve', 'ask'];
    const { url, ask } = await serve(machine, options, { env: { ORION_SERVER_TOKEN: '' } });
    const [first = '', ...others] = await commands();
    const [look = '', decide = ''] = others.slice(3);
    expect(others).toHaveLength(5);
    const known = first.replace('http://127.0.0.1:4310', url).replaceAll(/^curl .*$/gmu, '');
    const shell = shellIn(machine);
    const token = String(await machine.read('.orion/server/token')).trim();
    const headers = { accept: 'application/json' };
    await ask('/api/chat/messages', { token, headers, json: { content: 'Write it.' } });
    await waitFor('an approval', async () => {
      const { json } = await ask('/api/status', { token });
      return (json as { readonly pendingApprovals: number }).pendingApprovals === 1 || null;
    });
    expect(JSON.parse(await shell(known + look))).toMatchObject({
      state: 'pending',
      diffs: [{ target_file: 'a.txt', diff: expect.stringContaining('+a\n') }],
    });
    const decided = await shell(`${known}${look} >/dev/null\n${decide}`);
    expect(decided).toContain('"state":"yes"');
    await waitFor('the file', async () => (await machine.exists('a.txt')) || null);
  });
});

test('its unit is one that systemd reads without a word', async ({ machine }) => {
  const [unit = ''] = await blocks('ini');
  expect(unit).toContain('KillMode=mixed');
  if (!has('systemd-analyze')) return;
  const file = join(machine.root, 'orion.service');
  await writeFile(file, unit.replace('/usr/local/bin/orion', '/bin/sh'));
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', file], {
    encoding: 'utf8',
  });
  // A container has no manager that could be asked; what is wrong with the unit names its file.
  const about = (stdout + stderr).split('\n').filter((line) => line.includes('orion.service'));
  expect([about, status === 0 || about.length === 0]).toEqual([[], true]);
});

test('the health check of its container file is true while the server runs', async ({
  machine,
}) => {
  const [file = ''] = await blocks('dockerfile');
  for (const line of file.trim().split('\n'))
    expect(line).toMatch(
      /^(?:FROM|RUN|USER|WORKDIR|ENV|EXPOSE|HEALTHCHECK CMD|ENTRYPOINT|CMD) \S/u,
    );
  const [, command = '[]'] = /^HEALTHCHECK CMD (.*)$/mu.exec(file) ?? [];
  const [, ...args] = JSON.parse(command) as string[];
  const { port, running } = await serve(machine);
  const check = (): number | null =>
    spawnSync(
      process.execPath,
      args.map((arg) => arg.replace('4310', String(port))),
    ).status;
  expect(check()).toBe(0);
  running.kill('SIGKILL');
  await running.finished;
  expect(check()).toBe(1);
});

test('names every metric that there is', async ({ machine }) => {
  const { ask } = await serve(machine);
  const { text } = await ask('/metrics');
  const names = [...text.matchAll(/^# TYPE (\w+) /gmu)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(10);
  const guide = await readFile(GUIDE, 'utf8');
  expect(names.filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});

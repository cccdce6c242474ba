import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { execute } from '../command-line/execute.ts';
import { createFakeContext, type FakeContext } from '../testing/fake-context.ts';

/** Hazard: a command that is printed about one workspace, and typed as it stands, acts on another one. R279. */

/** Two workspaces, each with a configuration that nobody has accepted; the command runs in the first. */
async function ask(
  line: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<FakeContext> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'orion-places-')));
  onTestFinished(() => rm(root, { recursive: true }));
  for (const name of ['downloaded', 'mine']) {
    await mkdir(join(root, name));
    const config = { baseUrl: 'http://127.0.0.1:9/v1', allowPaths: ['**'] };
    await writeFile(join(root, name, 'orion.config.json'), JSON.stringify(config));
  }
  const context = createFakeContext({
    argv: line,
    homeDirectory: root,
    currentDirectory: join(root, 'downloaded'),
    environment,
  });
  await execute(context);
  return context;
}

const MINE = ['-C', '../mine'];

it.each([
  ['conversations show x', '`orion conversations list -C ../mine`'],
  ['trace show x', '`orion trace list -C ../mine`'],
  ['undo x', '`orion undo --list -C ../mine`'],
  ['recover-session x --discard', '`orion list-sessions -C ../mine`'],
  ['conversations list', '`orion trust -C ../mine`'],
  ['run words --approve never', '`orion trust -C ../mine`'],
])('orion %s names the workspace in what it prints', async (line, printed) => {
  const { stderr } = await ask([...line.split(' '), ...MINE]);
  expect(stderr.written()).toContain(printed);
  const commands = stderr.written().match(/`orion [^`]+`/gu) ?? [];
  expect(commands.filter((command) => !command.endsWith(' -C ../mine`'))).toEqual([]);
});

it('orion doctor names it in its table', async () => {
  const { stdout } = await ask(['doctor', ...MINE]);
  expect(stdout.written()).toContain('`orion trust -C ../mine`');
});

it('ORION_CWD may be gone when the command is typed', async () => {
  const elsewhere = await ask(['undo', 'x'], { ORION_CWD: '../mine' });
  expect(elsewhere.stderr.written()).toContain('`orion undo --list -C ../mine`');
  const here = await ask(['undo', 'x', '-C', '.'], { ORION_CWD: '../mine' });
  expect(here.stderr.written()).toContain('`orion undo --list -C .`');
});

it('help is the same everywhere', async () => {
  const { stderr } = await ask(['recover-session', ...MINE]);
  expect(stderr.written()).toContain('`orion list-sessions -C ../mine`');
  const unknown = await ask(['undo', '--unknown', ...MINE]);
  expect(unknown.stderr.written()).toContain('`orion undo --help`');
});

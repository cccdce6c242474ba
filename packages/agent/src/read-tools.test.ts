/** The path matrix of B1, B2 and B5 against every tool that reads, over a real workspace. */
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { systemClock } from '@orion/contracts';
import type { JsonObject } from '@orion/contracts';
import {
  createCodeDefinitionsTool,
  createListFilesTool,
  createReadFileTool,
  createSearchFilesTool,
  createToolRegistry,
} from '@orion/tool-runner';
import { createWorkspace } from '@orion/workspace';
import { toolCall } from '@orion/testkit';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { temporaryDirectory } from './testing/set-up.ts';

// Every search and every outline starts a thread.
vi.setConfig({ testTimeout: 60_000 });

const TOOLS = ['read_file', 'list_files', 'search_files', 'list_code_definition_names'] as const;

/** A workspace `ws` beside a folder `ws-evil`, with links to it. */
async function openTools() {
  const above = await temporaryDirectory();
  const root = join(above, 'ws');
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  };
  await put(join(above, 'ws-evil/secret.txt'), 'secret\n');
  await put(join(root, 'a.txt'), 'ours\n');
  await put(join(root, '.orion/sessions/x/content.txt'), 'secret\n');
  await put(join(root, 'config/key'), 'secret\n');
  const links = {
    'to-file': join(above, 'ws-evil/secret.txt'),
    'to-folder': '../ws-evil',
    chain: 'to-folder',
    loop: 'loop',
    proc: '/proc/self/root',
    dangling: join(above, 'none'),
    'to-state': '.orion',
    'to-key': 'config/key',
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, join(root, name));
  execFileSync('mkfifo', [join(root, 'pipe')]);
  await symlink('/dev/zero', join(root, 'zero'));
  const workspace = await createWorkspace({
    root,
    clock: systemClock,
    userKeyDirectory: join(root, 'config'),
  });
  onTestFinished(() => workspace.close());
  const registry = createToolRegistry([
    createReadFileTool(workspace),
    createListFilesTool(workspace),
    createSearchFilesTool(workspace),
    createCodeDefinitionsTool(workspace),
  ]);
  const call = async (tool: (typeof TOOLS)[number], args: JsonObject) => {
    const [result] = await registry.executeToolCalls(
      [toolCall('1', tool, tool === 'search_files' ? { pattern: 'secret', ...args } : args)],
      { projectId: 'p', requestId: 'r', mode: 'plan', signal: new AbortController().signal },
    );
    return result;
  };
  return { above, root, put, call };
}

const OUTSIDE = [
  '../ws-evil/secret.txt',
  '../ws-evil',
  'x/../../ws-evil',
  '..',
  '/etc/passwd',
  '/',
  '..\\ws-evil',
  '%2e%2e/ws-evil',
  '..%2fws-evil',
  'a\0b',
  'a.txt.',
  'a.txt ',
  'x'.repeat(256),
  '~',
  '~/x',
  'to-file',
  'to-folder',
  'to-folder/secret.txt',
  'chain/secret.txt',
  'loop',
  'proc/etc/passwd',
  'dangling',
  'zero',
];

describe.each(TOOLS)('%s', (tool) => {
  it('B1, B2: nothing outside the workspace', async () => {
    const { above, call } = await openTools();
    for (const path of [
      ...OUTSIDE,
      join(above, 'ws-evil'),
      `${join(above, 'ws')}-evil/secret.txt`,
    ]) {
      const result = await call(tool, { path });
      const failed = { success: false, error: { code: 'INVALID_TARGET' } };
      expect([path, result]).toMatchObject([path, failed]);
      expect(JSON.stringify(result)).not.toContain('secret\\n');
    }
  });

  it('B4: no pipe', async () => {
    const { call } = await openTools();
    expect(await call(tool, { path: 'pipe' })).toMatchObject({ error: { code: 'NOT_A_FILE' } });
  });

  it("B5, B7: nothing of Orion's own, by any of its names", async () => {
    const { root, call } = await openTools();
    for (const path of [
      '.orion/sessions/x/content.txt',
      join(root, '.orion/sessions'),
      'to-state/sessions/x/content.txt',
      'config/key',
      './config//key',
      'to-key',
    ]) {
      expect([path, await call(tool, { path })]).toMatchObject([
        path,
        { error: { code: 'PROTECTED_PATH' } },
      ]);
    }
  });

  it('B5: reading a protected file of the project needs no yes, as nothing is changed', async () => {
    const { root, put, call } = await openTools();
    for (const path of ['.env', '.github/workflows/ci.yml', 'package.json', '.git/config']) {
      await put(join(root, path), 'secret\n');
      expect([path, await call(tool, { path })]).toMatchObject([path, { success: true }]);
    }
  });
});

it.each(['list_files', 'search_files'] as const)(
  '%s of everything finds only what is ours',
  async (tool) => {
    const { call } = await openTools();
    const result = await call(tool, tool === 'search_files' ? { pattern: '.', regex: true } : {});
    const files = tool === 'search_files' ? [{ path: 'a.txt', lines: ['1:ours'] }] : ['a.txt'];
    expect(result).toMatchObject({ success: true, result: { files } });
  },
);

it('B1, B2, B4: definitions are those of regular files inside, whatever a name says', async () => {
  const { above, root, put, call } = await openTools();
  await put(join(above, 'ws-evil/secret.ts'), 'export class Secret {}\n');
  await put(join(root, 'ours.ts'), 'export class Ours {}\n');
  await put(join(root, 'hidden.ts'), 'export class Hidden {}\n');
  await put(join(root, 'below/deeper.ts'), 'export class Deeper {}\n');
  await put(join(root, '.orion/state.ts'), 'export class State {}\n');
  await put(join(root, 'binary.ts'), 'export class Binary {}\0\n');
  await put(join(root, 'large.ts'), `export class Large {}\n${' '.repeat(1024 ** 2)}`);
  // More than 1 MiB in UTF-8, but not in the file.
  const wide = `\ufeff// ${'\u5b57'.repeat(400_000)}\nexport class Wide {}\n`;
  await writeFile(join(root, 'wide.ts'), wide, 'utf16le');
  await put(join(root, '.gitignore'), 'hidden.ts\n');
  await symlink('../ws-evil/secret.ts', join(root, 'link.ts'));
  await symlink('ours.ts', join(root, 'inside.ts'));
  execFileSync('mkfifo', [join(root, 'pipe.ts')]);
  const files = async (args: JsonObject) => {
    const result = await call('list_code_definition_names', args);
    if (result?.success !== true) return result?.error.code;
    return (result.result as { files: unknown }).files;
  };
  const ours = { path: 'ours.ts', definitions: ['1 class: export class Ours'] };
  const deeper = { path: 'below/deeper.ts', definitions: ['1 class: export class Deeper'] };
  const refused = [
    { path: 'binary.ts', error: '"binary.ts" is a binary file.' },
    { path: 'large.ts', error: '"large.ts" has 1048598 bytes, more than 1048576.' },
  ];
  const utf16 = {
    path: 'wide.ts',
    encoding: 'utf-16le',
    definitions: ['2 class: export class Wide'],
  };
  expect(await files({})).toEqual([...refused, ours, utf16]);
  expect(await files({ recursive: true })).toEqual(
    [deeper, ...refused, ours, utf16].toSorted(byPath),
  );
  expect(await files({ path: 'below' })).toEqual([deeper]);
  expect(await files({ path: 'inside.ts' })).toEqual([ours]);
  expect(await files({ path: 'link.ts' })).toBe('INVALID_TARGET');
  expect(await files({ path: 'pipe.ts' })).toBe('NOT_A_FILE');
});

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : 1;
}

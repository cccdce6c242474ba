import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { beforeEach, describe, expect, it } from 'vitest';

import { loadConfiguration, type Configuration } from './configuration.ts';
import { trustWorkspace } from './trust-workspace.ts';
import { temporaryDirectory } from '../testing/set-up.ts';

/** Hazard: what keeps hostile configurations off says something about, or leaves out a part of, an honest one. */

let workspace: string;
let home: string;

beforeEach(async () => {
  const folder = await temporaryDirectory();
  workspace = join(folder, 'workspace');
  home = join(folder, 'home');
  await mkdir(workspace);
  await mkdir(join(home, '.config', 'orion'), { recursive: true });
});

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(workspace, path)), { recursive: true });
  await writeFile(join(workspace, path), text);
}

const load = (): Promise<Configuration> =>
  loadConfiguration({ flags: {}, environment: {}, workspace, homeDirectory: home });
const trust = () =>
  trustWorkspace({ environment: {}, workspace, homeDirectory: home, now: 1_000_000 });

/** What a repository may decide by itself. */
const MODEST: readonly (readonly [string, string, Configuration['settings']])[] = [
  ['an empty object', '{}\n', {}],
  ['a model', '{ "model": "m" }\n', {}],
  ['indented by tabs', '{\n\t"model": "m",\n\t"mode": "plan"\n}\n', {}],
  ['with CRLF', '{\r\n  "protocol": "standard",\r\n  "maxBytes": 500\r\n}\r\n', { maxBytes: 500 }],
  ['with the address of its schema', '{"$schema":"https://example.com/s.json"}', {}],
  [
    'with lower limits',
    '{"maxBytes":1000000,"maxIdlePrompts":1,"maxIterations":4,"controllerMaxTurns":10}',
    { maxBytes: 1_000_000, maxIdlePrompts: 1, maxIterations: 4, controllerMaxTurns: 10 },
  ],
  [
    'with limits as they are',
    '{"maxIterations":5,"stopSeconds":120}',
    { maxIterations: 5, stopSeconds: 120 },
  ],
  ['with letters that are not ASCII', '{"model":"modèle-ü","protocol":"controller"}\n\n', {}],
];

describe('a configuration that needs nobody’s trust is used without a word (issue 12, honest use)', () => {
  it.each(MODEST)('%s', async (_, text, settings) => {
    await put('orion.config.json', text);
    const configuration = await load();
    expect(configuration.notices).toEqual([]);
    expect(configuration.settings).toEqual(settings);
  });

  it('a link to another file of the repository', async () => {
    await put('tools/orion/shared.json', '{"maxBytes":500}');
    await symlink('tools/orion/shared.json', join(workspace, 'orion.config.json'));
    const configuration = await load();
    expect(configuration.notices).toEqual([]);
    expect(configuration.settings).toEqual({ maxBytes: 500 });
  });

  it('none at all', async () => {
    expect((await load()).notices).toEqual([]);
  });
});

describe('one that was accepted is used wholly and without a word (issue 12, honest use)', () => {
  it.each<[string, Record<string, unknown>, Partial<Configuration>]>([
    ['a server', { baseUrl: 'http://team.example/v1', provider: 'openai' }, {}],
    ['approvals', { approve: 'ask' }, { approve: 'ask' }],
    ['paths', { allowPaths: ['.github/**'] }, { settings: { allowPaths: ['.github/**'] } }],
    ['higher limits', { maxIterations: 50 }, { settings: { maxIterations: 50 } }],
    [
      'much of it',
      { model: 'm', quiet: true, strict: true, maxBytes: 5e8, telemetry: 'none' },
      { quiet: true, settings: { strict: true, maxBytes: 5e8, telemetry: 'none' } },
    ],
  ])('%s', async (_, project, expected) => {
    await put('orion.config.json', `${JSON.stringify(project, null, 2)}\n`);
    await trust();
    expect(await load()).toMatchObject({ ...expected, notices: [] });
  });
});

// Several workspaces behind one server: `projects` of the user's own configuration.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import { at } from './support/sandbox.ts';
import type { Sandbox } from './support/sandbox.ts';
import { writeDocument } from './support/scripts.ts';
import { say, serve } from './support/serve.ts';
import { longTest, test } from './support/test.ts';

const PROVIDER = ['--model', 'none', '--base-url', 'http://127.0.0.1:1'];

async function configureProjects(machine: Sandbox, projects: unknown): Promise<void> {
  await mkdir(join(machine.home, '.config/orion'), { recursive: true });
  const file = join(machine.home, '.config/orion/config.json');
  await writeFile(file, JSON.stringify({ projects }));
}

async function folders(machine: Sandbox, ...names: readonly string[]): Promise<readonly string[]> {
  const paths = names.map((name) => join(machine.root, name));
  for (const path of paths) await mkdir(path, { recursive: true });
  return paths;
}

longTest('are served by their names, and no other is', async ({ machine }) => {
  const [shop] = await folders(machine, 'shop', 'home/blog');
  await configureProjects(machine, { shop, blog: '~/blog' });
  const { ask, url } = await serve(machine);
  const status = async (projectId: string): Promise<number> =>
    (await ask(`/api/conversations?projectId=${projectId}`)).status;
  expect([await status('shop'), await status('blog')]).toEqual([200, 200]);
  expect([await status('workspace'), await status('Shop')]).toEqual([404, 404]);
  // The first has what belongs to the server; the folder in which it was started is not touched.
  expect(String(await machine.read('../shop/.orion/server/server.json'))).toContain(url);
  expect(await machine.exists('../home/blog/.orion/server')).toBe(false);
  expect(await machine.exists('.orion')).toBe(false);
});

longTest('are not served where a folder is named', async ({ machine }) => {
  const [shop] = await folders(machine, 'shop');
  await configureProjects(machine, { shop });
  const { ask } = await serve(machine, ['-C', machine.workspace]);
  expect((await ask('/api/conversations?projectId=any')).status).toBe(200);
  expect(await machine.exists('.orion/server/server.json')).toBe(true);
});

longTest('are all checked before any is opened', async ({ machine }) => {
  const [shop, inner] = await folders(machine, 'shop', 'shop/inner');
  await symlink(shop ?? '', join(machine.root, 'link'));
  await configureProjects(machine, {
    shop,
    inner,
    link: join(machine.root, 'link'),
    gone: join(machine.root, 'gone'),
  });
  const { exitCode, stderr } = await machine.run(['serve', '--port', 'x', ...PROVIDER]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    'projects.inner and projects.shop are the same folder, or one is inside',
  );
  expect(stderr).toContain('projects.link and projects.shop are the same folder');
  expect(stderr).toContain('projects.gone names no folder');
  expect(stderr).toContain('The port: "x"');
  expect(await machine.exists('../shop/.orion')).toBe(false);
});

longTest('have names and whole paths', async ({ machine }) => {
  const refused = async (projects: unknown): Promise<string> => {
    await configureProjects(machine, projects);
    const { exitCode, stderr } = await machine.run(['serve', ...PROVIDER]);
    expect(exitCode).toBe(2);
    return stderr;
  };
  expect(await refused(['a'])).toContain('projects must be an object of folders by name');
  const all = await refused({ '1': '/tmp', a: 'relative', b: '~other/x', c: 1, 'd e': '/tmp' });
  for (const name of ['1', 'd e']) expect(all).toContain(`projects.${name} is not a name`);
  for (const name of ['a', 'b', 'c'])
    expect(all).toContain(`projects.${name} must be an absolute path`);
});

longTest('each have their own file, and their own trust', async ({ machine }) => {
  const [shop, blog] = await folders(machine, 'shop', 'blog');
  await configureProjects(machine, { shop, blog });
  // A workspace cannot name folders, nor refuse to be served by what nobody has accepted.
  const file = join(blog ?? '', 'orion.config.json');
  await writeFile(file, JSON.stringify({ approve: 'ask', projects: { etc: '/etc' } }));
  const { ask, running } = await serve(machine);
  expect(running.stderr()).toContain(`${file}: approve was ignored`);
  expect(running.stderr()).toContain(
    `${file}: projects was ignored: which folders are served is decided by your own configuration alone.`,
  );
  expect((await ask('/api/conversations?projectId=etc')).status).toBe(404);
  running.kill('SIGTERM');
  await running.finished;
  await machine.run(['trust', '-C', blog ?? '']);
  const trusted = await serve(machine);
  expect(trusted.running.stderr()).not.toContain('approve was ignored');
});

test.concurrent('have turns of their own, in their own folder, by one server', async ({
  machine,
}) => {
  await folders(machine, 'shop', 'blog');
  await configureProjects(machine, {
    shop: join(machine.root, 'shop'),
    blog: join(machine.root, 'blog'),
  });
  const provider = await machine.provider(writeDocument({ target: 'a.txt', content: 'one\n' }));
  const server = await serve(machine, at(provider));
  for (const projectId of ['shop', 'blog']) {
    const { events } = await say(server, { projectId, content: 'Write it.' });
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete', projectId });
    expect(String(await machine.read(`../${projectId}/a.txt`))).toBe('one\n');
    const { json } = await server.ask(`/api/conversations?projectId=${projectId}`);
    expect(json).toMatchObject({ conversations: [{ projectId }] });
  }
  expect(await machine.exists('a.txt')).toBe(false);
  const unknown = await say(server, { projectId: 'shop2', content: 'Write it.' });
  expect([unknown.answer.status, unknown.answer.json]).toMatchObject([
    404,
    { error: { code: 'PROJECT_NOT_FOUND' } },
  ]);
});

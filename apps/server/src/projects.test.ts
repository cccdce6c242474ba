import { createOrion } from '@orion/agent';
import type { Orion } from '@orion/agent';
import { expect, it, onTestFinished } from 'vitest';

import { projectsOf } from './projects.ts';
import { codeOf, startTestServer, temporaryDirectory } from './testing/test-server.ts';

async function workspace(store: Orion['store'] | 'memory', projectId: string): Promise<Orion> {
  const orion = await createOrion({ workspace: await temporaryDirectory(), store, projectId });
  onTestFinished(() => orion.close());
  return orion;
}

it('without projects every name is a label of the one workspace', async () => {
  const orion = await workspace('memory', 'P');
  const { names, of, all } = projectsOf(orion);
  expect([names, of('P'), of('constructor'), all]).toEqual([null, orion, orion, [orion]]);
});

it('with projects the others are not found', async () => {
  const first = await workspace('memory', 'first');
  const second = await workspace(first.store, 'second');
  const projects = projectsOf(first, { first, second });
  expect(projects.names).toEqual(['first', 'second']);
  expect(projects.all).toEqual([first, second]);
  expect([projects.of('first'), projects.of('second')]).toEqual([first, second]);
  for (const name of ['third', 'constructor', '__proto__', 'First', ''])
    expect(() => projects.of(name)).toThrow(expect.objectContaining({ code: 'PROJECT_NOT_FOUND' }));

  const { ask } = await startTestServer({ orion: first, projects: { first, second } });
  expect((await ask('/api/conversations?projectId=second')).status).toBe(200);
  const missing = await ask('/api/conversations?projectId=third');
  expect([missing.status, codeOf(missing.json)]).toEqual([404, 'PROJECT_NOT_FOUND']);
  const turns = await ask('/api/turns?projectId=third');
  expect([turns.status, codeOf(turns.json)]).toEqual([404, 'PROJECT_NOT_FOUND']);
});

it('have one store, and each its own workspace and sessions', async () => {
  const first = await workspace('memory', 'first');
  const second = await workspace(first.store, 'second');
  expect([second.store, second.projectId, second.sharesStore]).toEqual([
    first.store,
    'second',
    true,
  ]);
  expect(second.stateDirectory).not.toBe(first.stateDirectory);
  await second.storeOutput('{"a":1}', 'a');
  const stored = async (name: string): Promise<number> =>
    (await first.store.toolOutputs.list({ project_id: name })).total;
  expect([await stored('first'), await stored('second')]).toEqual([0, 1]);
});

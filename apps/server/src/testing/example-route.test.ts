// What the README says about a route is what works.
import { readFile } from 'node:fs/promises';

import { OpenAPIHono } from '@hono/zod-openapi';
import { expect, it } from 'vitest';

import { describeApi } from '../openapi/document.ts';
import { operationsOf } from '../openapi/page.ts';
import type { RouteOptions, ServerApp } from '../routes/route-options.ts';
import { lengthRoutes } from './example-route.ts';
import { startTestServer } from './test-server.ts';

it('the example of the README is this file, and answers', async () => {
  const { orion } = await startTestServer();
  await orion.store.conversations.save({
    conversationId: 'c',
    projectId: orion.projectId,
    history: [{ role: 'user', content: 'hello' }],
    from: 0,
    openSessionId: null,
    revision: 0,
  });
  const app: ServerApp = new OpenAPIHono();
  lengthRoutes(app, { orion } as RouteOptions);
  const answer = await app.request('/api/conversations/c/length');
  expect([answer.status, await answer.json()]).toEqual([200, { messages: 1 }]);
  const [operation] = operationsOf(describeApi(app));
  expect(Object.keys(operation?.operation.responses ?? {})).toContain('404');
  const code = await readFile(new URL('example-route.ts', import.meta.url), 'utf8');
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  expect(readme).toContain(code.replaceAll("'../routes/", "'./"));
});

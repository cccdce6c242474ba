import { expect, onTestFinished, test } from 'vitest';

import { startByteServer } from './byte-server.ts';

const post = (url: string, body: object) =>
  fetch(url, { method: 'POST', body: JSON.stringify(body) });

test('a byte server says which request it has refused, and why', async () => {
  const server = await startByteServer({ pieces: ['ok'] });
  onTestFinished(() => server.close());
  const good = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
  expect((await post(`${server.url}/chat/completions`, good)).status).toBe(200);
  const answer = await post(`${server.url}/chat/completions`, { ...good, model: '' });
  expect(answer.status).toBe(418);
  const [why] = server.refused;
  expect(why).toMatch(/^request 2 to \/v1\/chat\/completions: model: /);
  expect(await answer.text()).toBe(why);
  expect(server.refused).toHaveLength(1);
});

test('another check than that of the known formats is taken', async () => {
  const server = await startByteServer({ pieces: ['ok'] }, (path, body) =>
    path === '/v1/generate' && JSON.stringify(body) === '{}' ? [] : ['not empty'],
  );
  onTestFinished(() => server.close());
  expect((await post(`${server.url}/generate`, {})).status).toBe(200);
  expect((await post(`${server.url}/generate`, { a: 1 })).status).toBe(418);
  expect(server.refused).toEqual(['request 2 to /v1/generate: not empty']);
});

// `orion web`: links for the page of the server that runs, and the end of its log-ins.
import { createServer } from 'node:net';

import { expect } from 'vitest';

import { serve, SERVER_TOKEN } from './support/serve.ts';
import { test } from './support/test.ts';

const TOKEN = { ORION_SERVER_TOKEN: SERVER_TOKEN };

for (const [where, args, tags] of [
  ['on loopback', [], []],
  ['on all addresses', ['--host', '0.0.0.0'], ['long']],
] as const) {
  const title = `${where}: prints a link that works once, and ends what was logged in with it`;
  test.concurrent(title, { tags: [...tags] }, async ({ machine }) => {
    const { ask, url } = await serve(machine, args);
    const { stdout, exitCode } = await machine.run(['web'], { env: TOKEN });
    expect(exitCode).toBe(0);
    const link = new URL(stdout.trim());
    expect(`${link.origin}${link.pathname}`).toBe(`${url}/connect`);
    const json = { code: link.hash.slice(1) };
    const session = (await ask('/api/page/sessions', { token: null, json })).json as {
      id: string;
      key: string;
    };
    const token = `${session.id}.${session.key}`;
    expect((await ask('/api/turns', { token })).status).toBe(200);

    const ended = await machine.run(['web', '--sign-out-all', '--json'], { env: TOKEN });
    expect(JSON.parse(ended.stdout)).toEqual({ version: 1, signedOut: true });
    expect((await ask('/api/turns', { token })).status).toBe(401);
  });
}

test.concurrent('finds the token that the server keeps, and says when no server runs', async ({
  machine,
}) => {
  const env = { ORION_SERVER_TOKEN: '' };
  const none = await machine.run(['web'], { env });
  expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining('SERVER_NOT_RUNNING')]);
  const server = await serve(machine, [], { env });
  const { stdout } = await machine.run(['web', '--json'], { env });
  expect((JSON.parse(stdout) as { url: string }).url).toMatch(
    /^http:\/\/127\.0\.0\.1:\d+\/connect#/u,
  );
  server.running.kill('SIGKILL');
  await server.running.finished;
  // Somebody else has its port now, who must not learn its token.
  let connections = 0;
  const other = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    other.listen(server.port, '127.0.0.1', resolve);
  });
  const gone = await machine.run(['web'], { env });
  other.close();
  expect([gone.exitCode, gone.stderr]).toEqual([
    1,
    expect.stringContaining('No server is running'),
  ]);
  expect(connections).toBe(0);
});

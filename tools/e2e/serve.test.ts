// `orion serve` as a process: how it starts, what it says, how it ends.
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

import { expect } from 'vitest';

import { textOfLoaded } from './support/loaded.ts';
import { serve } from './support/serve.ts';
import { longTest, test } from './support/test.ts';
import { waitFor } from './support/wait.ts';

const STOPPING = 'Stopping: 1 turn has up to 30 s to finish. Press Ctrl-C again to stop now.\n';
const PROVIDER = ['--model', 'none', '--base-url', 'http://127.0.0.1:1'];

test.concurrent('serves from the line with its URL on, until SIGTERM', async ({ machine }) => {
  const { running, url, ask } = await serve(machine);
  expect((await ask('/health/ready', { token: null })).json).toMatchObject({ status: 'ok' });
  expect((await ask('/metrics')).status).toBe(200);
  const announced = JSON.parse(String(await machine.read('.orion/server/server.json'))) as object;
  expect(announced).toEqual({ url, pid: running.pid });
  running.kill('SIGTERM');
  const { exitCode, signal, stdout } = await running.finished;
  expect([exitCode, signal, stdout]).toEqual([0, null, `${url}\n`]);
  expect(await machine.exists('.orion/server/server.json')).toBe(false);
});

test.concurrent('ends at once when it is asked to while it waits for its store', async ({
  machine,
}) => {
  const asked = Promise.withResolvers<void>();
  // It takes connections, and never answers.
  const silent = createServer(() => asked.resolve()).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const env = { DATABASE_URL: `postgres://u:p@127.0.0.1:${port}/d` };
  const running = machine.start(['serve', '--port', '0', ...PROVIDER], { env });
  await asked.promise;
  running.kill('SIGTERM');
  const { exitCode, stderr } = await running.finished;
  silent.close();
  expect([exitCode, stderr]).toEqual([0, '']);
});

longTest('prints a token when it makes one, and only then (R286)', async ({ machine }) => {
  const env = { ORION_SERVER_TOKEN: '' };
  const first = await serve(machine, [], { env });
  const file = machine.path('.orion/server/token');
  const token = (await readFile(file, 'utf8')).trim();
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await first.ask('/metrics', { token })).status).toBe(200);
  expect((await first.ask('/metrics', { token: `${token}0` })).status).toBe(401);
  first.running.kill('SIGINT');
  const { stderr, exitCode } = await first.running.finished;
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`Token: ${token} (kept in ${file})\n`);
  const second = await serve(machine, [], { env });
  expect((await second.ask('/metrics', { token })).status).toBe(200);
  second.running.kill('SIGTERM');
  const again = await second.running.finished;
  expect(again.stderr).toContain(`The token is in ${file}.\n`);
  expect(again.stdout + again.stderr).not.toContain(token);
});

test.concurrent('lists everything that is wrong before it opens anything', async ({ machine }) => {
  const { exitCode, stdout, stderr } = await machine.run(
    ['serve', '--port', '70000', '--host', 'example.com', '--allow-host', 'a b'],
    {
      env: {
        ORION_SERVER_TOKEN: 'short',
        ORION_DRAIN_SECONDS: 'soon',
        ORION_LOG_LEVEL: 'loud',
        ORION_QUEUE: 'fast',
      },
    },
  );
  expect([exitCode, stdout]).toEqual([2, '']);
  for (const said of [
    'No model was named',
    'The port: "70000"',
    'ORION_DRAIN_SECONDS: "soon"',
    'The log level "loud"',
    'The queue (ORION_QUEUE) "fast" must be one of pg-boss, in-process.',
    'The host "example.com"',
    '"a b" is not a name of a host.',
    'The token (ORION_SERVER_TOKEN)',
  ])
    expect(stderr).toContain(said);
  expect(await machine.exists('.orion')).toBe(false);
});

longTest('has no queue in Postgres for a store in a file', async ({ machine }) => {
  const { exitCode, stderr } = await machine.run(['serve', '--port', '0', ...PROVIDER], {
    env: { ORION_QUEUE: 'pg-boss' },
  });
  expect(exitCode).toBe(2);
  expect(stderr).toContain('The queue pg-boss needs a store in Postgres.');
});

test.concurrent('listens beyond loopback only with a given token (B8)', async ({ machine }) => {
  const args = ['serve', '--port', '0', '--host', '0.0.0.0', ...PROVIDER];
  const { exitCode, stdout, stderr } = await machine.run(args);
  expect([exitCode, stdout]).toEqual([2, '']);
  expect(stderr).toContain('ORION_SERVER_TOKEN');
  const { ask } = await serve(machine, ['--host', '0.0.0.0']);
  expect((await ask('/metrics')).status).toBe(200);
});

longTest('says that its port is taken, and by its exit code', async ({ machine }) => {
  const { port } = await serve(machine);
  const other = ['-C', machine.home, '--port', String(port)];
  const { exitCode, stderr } = await machine.run(['serve', ...PROVIDER, ...other]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('EADDRINUSE');
});

test.concurrent('says what it waits for when it is asked to stop, and hands it off when it is asked again', async ({
  machine,
}) => {
  const at = async (eventsPerSecond: number) => {
    const behaviours = [{ reply: { text: 'one two three four five six seven' } }];
    const provider = await machine.provider({ behaviours, shape: { chunk: 4, eventsPerSecond } });
    return { provider, args: ['--model', 'm', '--base-url', provider.url] };
  };
  const first = await serve(machine, (await at(1)).args);
  const headers = { accept: 'application/json' };
  const begun = await first.ask('/api/chat/messages', { json: { content: 'q' }, headers });
  const events = `/api/turns/${(begun.json as { turnId: string }).turnId}/events`;
  await waitFor('the first words', async () =>
    (await first.ask(events, { headers })).text.includes('"chunk"') ? true : null,
  );
  first.running.kill('SIGINT');
  await waitFor('the line', () =>
    Promise.resolve(first.running.stderr().includes(STOPPING) ? true : null),
  );
  await new Promise((resolve) => setTimeout(resolve, 600));
  first.running.kill('SIGINT');
  const ended = await first.running.finished;
  expect([ended.exitCode, ended.signal]).toEqual([130, null]);
  expect(ended.stderr).toContain('\nStopping now. What is not finished is saved, and the next');
  const { args, provider } = await at(100);
  const second = await serve(machine, args);
  const all = await waitFor('the end', async () => {
    const { text } = await second.ask(events, { headers });
    return text.includes('"type":"done"') ? text : null;
  });
  expect(all).toContain('"status":"complete"');
  expect(all).not.toContain('TURN_INTERRUPTED');
  // The first one did not wait for the end.
  expect(provider.requests).toHaveLength(1);
});

longTest('a second signal ends it at once', async ({ machine }) => {
  const { running, open, port } = await serve(machine);
  const socket = await open();
  socket.on('error', () => undefined);
  socket.write(
    `POST /api/turns/none/cancel HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer a-token-of-the-tests-0123456789\r\n` +
      'Content-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n',
  );
  await new Promise((resolve) => socket.once('data', resolve));
  running.kill('SIGTERM');
  // One request to stop may arrive as several signals.
  running.kill('SIGTERM');
  let ended = false;
  void running.finished.then(() => (ended = true));
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(ended).toBe(false);
  running.kill('SIGTERM');
  expect((await running.finished).exitCode).toBe(130);
});

longTest('no other command loads any of it', async ({ machine }) => {
  const server = 'The server does not know this method.';
  expect(await textOfLoaded(machine, 'serve', ['serve', ...PROVIDER, '--host', '?'])).toContain(
    server,
  );
  for (const args of [['--version'], ['--help'], ['list-sessions'], ['run', 'x', ...PROVIDER]])
    expect(await textOfLoaded(machine, args[0] ?? '', args)).not.toContain(server);
});

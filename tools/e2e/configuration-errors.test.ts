import { createServer } from 'node:net';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';

import { LAST_WORD } from './support/scripts.ts';
import { test } from './support/test.ts';

describe('a command that cannot start says why and what to do, with exit 2', () => {
  test.concurrent.for([
    ['an unknown provider', ['--provider', 'nobody'], {}, 'PROVIDER_UNKNOWN', 'Choose one of'],
    ['no model', [], { OPENAI_API_KEY: 'sk-x' }, 'MODEL_MISSING', '--model'],
    ['no key', ['--model', 'gpt-4.1'], {}, 'API_KEY_MISSING', 'OPENAI_API_KEY'],
    ['no script', ['--provider', 'scripted'], {}, 'SCRIPT_INVALID', '--script'],
    ['a script that is none', ['--script', 'no.json'], {}, 'SCRIPT_INVALID', 'no.json'],
    [
      'a folder that is not there',
      ['-C', 'nowhere', '--model', 'x'],
      {},
      'CONFIG_INVALID',
      'nowhere',
    ],
    ['an unknown option', ['--colour'], {}, 'USAGE', '--help'],
    ['an unknown protocol', ['--protocol', 'magic'], {}, 'PROTOCOL_UNSUPPORTED', 'standard'],
    [
      '--recover ask without a terminal',
      ['--recover', 'ask', '--model', 'x', '--base-url', 'http://127.0.0.1:9/v1'],
      {},
      'USAGE',
      '--recover yes',
    ],
    [
      'an idle time that is no number',
      ['--model', 'x'],
      { WRITE_SESSION_IDLE_MS: 'soon' },
      'CONFIG_INVALID',
      'WRITE_SESSION_IDLE_MS',
    ],
    [
      'a switch that is neither true nor false',
      ['--model', 'x'],
      { WRITE_SESSION_STRICT: 'yes' },
      'CONFIG_INVALID',
      'WRITE_SESSION_STRICT',
    ],
  ] as const)('%s', async ([, args, env, code, next], { machine }) => {
    const ended = await machine.run(['run', 'Write it.', ...args, '--json'], { env });
    expect(ended.exitCode, ended.stderr).toBe(2);
    expect(ended.stderr).toContain(`orion: ${code}: `);
    expect(ended.stderr).toContain(next);
    expect(ended.result()).toMatchObject({
      version: 1,
      status: 'error',
      exitCode: 2,
      requestId: null,
    });
    expect(ended.events()).toEqual([]);
    expect(await machine.exists('.orion/logs')).toBe(false);
  });

  test.concurrent('no prompt: nothing as argument, nothing piped in', async ({ machine }) => {
    const provider = await machine.provider({ behaviours: [LAST_WORD] });
    const ended = await machine.run(['run', '--model', 'x', '--base-url', provider.url]);
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr).toContain('There is no prompt.');
    expect(provider.requests).toEqual([]);
  });
});

test.concurrent('the prompt may be piped in', async ({ machine }) => {
  const provider = await machine.provider({
    behaviours: [{ when: { lastUser: 'from a pipe' }, reply: { text: 'I read it.' } }],
  });
  for (const args of [[], ['-']]) {
    const ended = await machine.run(['run', ...args, '--model', 'x', '--base-url', provider.url], {
      stdin: 'from a pipe',
    });
    expect(ended).toMatchObject({ exitCode: 0 });
    expect(ended.stdout.trim()).toBe('I read it.');
  }
});

test.concurrent('an unreachable provider: exit 1, its address, the next step', async ({
  machine,
}) => {
  const url = `http://127.0.0.1:${await closedPort()}/v1`;
  const ended = await machine.run(['run', 'Hello', '--model', 'x', '--base-url', url, '--json']);
  expect(ended.exitCode, ended.stderr).toBe(1);
  expect(ended.stderr).toMatch(
    /^orion: PROVIDER_UNREACHABLE: No connection to 127\.0\.0\.1:\d+ \(ECONNREFUSED\)$/mu,
  );
  expect(ended.stderr).toContain('Check the network and the base URL');
  expect(ended.result()).toMatchObject({ status: 'error', exitCode: 1 });
});

test.concurrent('a workspace file chooses nothing that costs its user something', async ({
  machine,
}) => {
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  await writeFile(
    join(machine.workspace, 'orion.config.json'),
    JSON.stringify({ baseUrl: 'http://127.0.0.1:9/v1', model: 'theirs' }),
  );
  const ended = await machine.run(['run', 'Hello', '--base-url', provider.url]);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.stderr).toContain('baseUrl');
  expect(provider.requests[0]?.body).toMatchObject({ model: 'theirs' });
});

/** A port on which nothing listens: it was free a moment ago. */
async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address !== null ? address.port : 0;
}

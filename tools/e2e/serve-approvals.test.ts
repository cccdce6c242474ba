// @module-tag long
// What a turn may do behind a server, where nobody can be asked: the same as `orion run` without a terminal.
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { Behaviour } from '@orion/llm-adapters/scripted';

import { configureUser, madeServer } from './support/mcp.ts';
import { lastToolMessage } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import type { Sandbox } from './support/sandbox.ts';
import { LAST_WORD, writeDocument } from './support/scripts.ts';
import { say, serve, SERVER_TOKEN } from './support/serve.ts';
import { test } from './support/test.ts';

const TEXT = 'one\ntwo\n';

function call(name: string, args: object): Behaviour {
  return {
    name,
    when: { toolResults: 0 },
    reply: { toolCalls: [{ name, arguments: { ...args } }] },
  };
}

/** What the model is told of its call. */
async function toldOfCall(
  machine: Sandbox,
  behaviour: Behaviour,
  args: readonly string[] = [],
): Promise<string> {
  const provider = await machine.provider({ behaviours: [behaviour, LAST_WORD] });
  const server = await serve(machine, [...at(provider), ...args]);
  const { events } = await say(server, { content: 'go', conversationId: randomUUID() });
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  server.running.kill('SIGTERM');
  await server.running.finished;
  return lastToolMessage(provider.requests);
}

test.concurrent('auto: a file inside the workspace is written, and can be undone', async ({
  machine,
}) => {
  const provider = await machine.provider(writeDocument({ target: 'a.txt', content: TEXT }));
  const server = await serve(machine, at(provider));
  const { events } = await say(server, { content: 'Write it.' });
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
  expect(String(await machine.read('a.txt'))).toBe(TEXT);
  server.running.kill('SIGTERM');
  await server.running.finished;
  const undone = await machine.run(['undo']);
  expect(undone.exitCode, undone.stderr).toBe(0);
  expect(await machine.exists('a.txt')).toBe(false);
});

test.concurrent('never: nothing is written, and what was streamed is kept', async ({ machine }) => {
  const provider = await machine.provider(writeDocument({ target: 'a.txt', content: TEXT }));
  const server = await serve(machine, [...at(provider), '--approve', 'never']);
  const { events } = await say(server, { content: 'Write it.' });
  expect(events.filter(({ type }) => type === 'done')).toHaveLength(1);
  expect(await machine.exists('a.txt')).toBe(false);
});

test.concurrent('a protected path is refused with the reason, and written where it is allowed', async ({
  machine,
}) => {
  const begin = { intent: 't', target_file: '.env', operation: 'create' };
  const told = await toldOfCall(machine, call('WritePlanTool_begin', begin));
  expect(told).toContain('PROTECTED_PATH');
  expect(await machine.exists('.env')).toBe(false);
  const provider = await machine.provider(writeDocument({ target: '.env', content: 'A=1\n' }));
  const server = await serve(machine, [...at(provider), '--allow-path', '.env']);
  await say(server, { content: 'Write it.', conversationId: randomUUID() });
  expect(String(await machine.read('.env'))).toBe('A=1\n');
});

test.concurrent('a shell line without a pattern is refused with the reason, and runs with one', async ({
  machine,
}) => {
  const line = call('run_command', { command: 'touch made' });
  expect(await toldOfCall(machine, line)).toMatch(/no pattern allows it, and nobody can be asked/u);
  expect(await machine.exists('made')).toBe(false);
  await toldOfCall(machine, line, ['--allow-command', 'touch made', '--sandbox', 'off']);
  expect(await machine.exists('made')).toBe(true);
});

test.concurrent('a shell line sees nothing of the server: no token, no key', async ({
  machine,
}) => {
  const line = call('run_command', { command: 'env' });
  const told = await toldOfCall(machine, line, ['--allow-command', 'env', '--sandbox', 'off']);
  expect(told).toContain('PATH=');
  expect(told).not.toContain(SERVER_TOKEN);
  const names = [...told.matchAll(/(\w+)=/gu)].map(([, name]) => name);
  expect(
    names.filter((name) => /TOKEN$|KEY$|^DATABASE|^ORION_(?!COMMAND)/u.test(name ?? '')),
  ).toEqual([]);
});

test.concurrent('an MCP tool that is not allowed by name is refused with the reason', async ({
  machine,
}) => {
  await configureUser(machine, { mcpServers: { made: await madeServer(machine, '') } });
  const told = await toldOfCall(machine, call('mcp__made__act', { what: 'x' }));
  expect(told).toMatch(/do not allow it by name, and nobody can be asked/u);
});

test.concurrent('a mode of the request that only reads writes nothing', async ({ machine }) => {
  await writeFile(join(machine.workspace, 'a.txt'), 'before\n');
  const provider = await machine.provider(
    writeDocument({ target: 'a.txt', content: TEXT }, { operation: 'overwrite' }),
  );
  const server = await serve(machine, at(provider));
  const { events } = await say(server, { content: 'Write it.', mode: 'plan' });
  expect(events.filter(({ type }) => type === 'done')).toHaveLength(1);
  expect(String(await machine.read('a.txt'))).toBe('before\n');
});

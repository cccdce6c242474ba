// @module-tag long
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';

import { lastToolMessage, sent } from './support/requests.ts';
import type { Sandbox } from './support/sandbox.ts';
import { BEGIN, LAST_WORD, type BeginArguments } from './support/scripts.ts';
import { test } from './support/test.ts';

/** What the model reads after this call, once the turn has ended without a write. */
async function refusal(
  machine: Sandbox,
  args: BeginArguments | Readonly<Record<string, unknown>> | string,
  options: readonly string[] = [],
): Promise<string> {
  const provider = await machine.provider({
    behaviours: [
      { when: { toolResults: 0 }, reply: { toolCalls: [{ name: BEGIN, arguments: args }] } },
      LAST_WORD,
    ],
  });
  const ended = await machine.ask(provider, ['--json', ...options]);
  // The model was told and gave its answer: that is an ordinary end of a turn.
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.result().receipts).toEqual([]);
  expect(ended.events().filter((event) => event.type === 'tool_result')).toMatchObject([
    { ok: false },
  ]);
  expect(await machine.sessions()).toEqual([]);
  const last = sent(provider.requests).at(-1)?.messages ?? [];
  return last.find((message) => message.role === 'tool')?.content ?? '';
}

const create = (target_file: string, more: object = {}): BeginArguments => ({
  intent: 'test',
  operation: 'create',
  target_file,
  ...more,
});

describe('R087, R126: a begin that cannot succeed is refused before any content', () => {
  for (const [row, [target, code]] of (
    [
      ['../outside.txt', 'INVALID_TARGET'],
      ['exists.txt', 'FILE_EXISTS'],
      ['link/file.txt', 'INVALID_TARGET'],
      ['folder', 'IS_DIRECTORY'],
      ['.git/config', 'PROTECTED_PATH'],
      // The paths themselves are those of the tests of `workspace`.
      ['docs/../../outside.txt', 'INVALID_TARGET'],
      ['/etc/orion-test', 'INVALID_TARGET'],
      ['.GitHub/workflows/ci.yml', 'PROTECTED_PATH'],
      ['.env', 'PROTECTED_PATH'],
      ['.orion/logs/x', 'PROTECTED_PATH'],
    ] as const
  ).entries()) {
    const tags = row < 5 ? [] : ['long'];
    test.concurrent(`create ${target}: ${code}`, { tags }, async ({ machine }) => {
      await machine.write('exists.txt', 'before\n');
      await mkdir(machine.path('folder'));
      await mkdir(join(machine.root, 'elsewhere'));
      await symlink(join(machine.root, 'elsewhere'), machine.path('link'));

      expect(await refusal(machine, create(target))).toContain(code);

      expect(String(await machine.read('exists.txt'))).toBe('before\n');
      expect(await machine.exists('../outside.txt')).toBe(false);
      expect(await machine.exists('link/file.txt')).toBe(false);
    });
  }

  test.concurrent('append to a file that is not there: FILE_NOT_FOUND', async ({ machine }) => {
    expect(await refusal(machine, create('none.txt', { operation: 'append' }))).toContain(
      'FILE_NOT_FOUND',
    );
  });

  test.concurrent('R255: --allow-path lets a protected path through', async ({ machine }) => {
    const provider = await machine.provider({
      behaviours: [
        { when: { toolChoice: 'none' }, reply: { text: 'A=1\nDONE' } },
        {
          when: { toolResults: 0 },
          reply: { toolCalls: [{ name: BEGIN, arguments: create('.env') }] },
        },
        LAST_WORD,
      ],
    });
    const ended = await machine.ask(provider, ['--allow-path', '.env']);
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(String(await machine.read('.env'))).toBe('A=1\n');
  });
});

describe('R124, R127, R131: arguments that are wrong are named to the model, and nothing is guessed', () => {
  test.concurrent.for([
    ['content in the arguments', create('a.txt', { content: 'hello' }), 'CONTENT_IN_ARGUMENTS'],
    ['an unknown operation', create('a.txt', { operation: 'delete' }), 'Invalid operation type.'],
    ['no target', { intent: 'x', operation: 'create' }, 'target_file is required'],
    ['a blank intent', create('a.txt', { intent: ' ' }), 'intent is required'],
    ['cut arguments', '{"intent":"x","target_file":"a.t', 'INVALID_TOOL_ARGUMENTS'],
    ['far too long ones', create('a.txt', { intent: 'x'.repeat(17_000) }), 'ARGUMENTS_TOO_LARGE'],
  ] as const)('%s', async ([, args, text], { machine }) => {
    expect(await refusal(machine, args)).toContain(text);
    expect(await machine.exists('a.txt')).toBe(false);
  });
});

test.concurrent('R128: in PLAN mode begin is neither offered nor executed', async ({ machine }) => {
  const provider = await machine.provider({
    behaviours: [
      {
        when: { toolResults: 0 },
        reply: { toolCalls: [{ name: BEGIN, arguments: create('a.txt') }] },
      },
      { reply: { text: 'A plan.' } },
    ],
  });
  const ended = await machine.ask(provider, ['--mode', 'plan', '--json']);
  expect(ended.exitCode, ended.stderr).toBe(0);
  for (const request of sent(provider.requests)) {
    expect(request.tools?.map((tool) => tool.function.name) ?? []).not.toContain(BEGIN);
  }
  expect(lastToolMessage(provider.requests)).toMatch(/ACT/u);
  expect(ended.events().at(-1)).toMatchObject({ type: 'done', fullContent: 'A plan.' });
  expect(await machine.exists('a.txt')).toBe(false);
  expect(await machine.exists('.orion/logs/write_sessions')).toBe(false);
});

test.concurrent('R129: no offered tool takes content, and none finalizes', async ({ machine }) => {
  const provider = await machine.provider({ behaviours: [LAST_WORD] });
  await machine.ask(provider);
  const tools = JSON.stringify(sent(provider.requests)[0]?.tools);
  expect(tools).toContain(BEGIN);
  expect(tools).not.toMatch(/finalize|execute|deleteSession/u);
  expect(tools).not.toMatch(/"(content|raw_content|content_block|text|body)":\{/u);
});

test.concurrent('R087: a person reads once what was refused, why, and the option that allows it', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      {
        when: { toolResults: 0 },
        reply: { toolCalls: [{ name: BEGIN, arguments: create('.env') }] },
      },
      LAST_WORD,
    ],
  });
  const ended = await machine.ask(provider);
  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(ended.stderr).toBe(
    `${BEGIN}: PROTECTED_PATH: ".env" is protected (.env*: it holds secrets).\n` +
      '  Allow it with --allow-path <glob>.\n',
  );
  const lines = await machine.ask(provider, ['--json']);
  expect(lines.events().find((event) => event.type === 'tool_result')).toMatchObject({
    error: { code: 'PROTECTED_PATH', hint: 'Allow it with --allow-path <glob>.' },
  });
});

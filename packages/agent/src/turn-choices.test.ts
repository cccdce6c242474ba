import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { startScriptedProvider, type Script } from '@orion/llm-adapters/scripted';
import { BEGIN_TOOL_NAME } from '@orion/contracts';
import { collect } from '@orion/testkit';
import { beforeEach, expect, it, onTestFinished } from 'vitest';

import type { OrionOptions, TurnRequest } from './orion.ts';
import { openOrion, temporaryDirectory } from './testing/set-up.ts';

/** Hazard: what a person chose for a turn holds for another one, or not for this one. */

const WRITES: Script = {
  behaviours: [
    { name: 'text', when: { toolChoice: 'none' }, reply: { text: 'new\nDONE' } },
    {
      name: 'begin',
      when: { toolResults: 0 },
      reply: {
        toolCalls: [
          {
            name: BEGIN_TOOL_NAME,
            arguments: { intent: 'test', target_file: 'a.txt', operation: 'create' },
          },
        ],
      },
    },
    { name: 'last word', reply: { text: 'Done.' } },
  ],
};

let workspace: string;
beforeEach(async () => {
  workspace = await temporaryDirectory();
});

async function open(options: Partial<OrionOptions> = {}) {
  const provider = await startScriptedProvider(WRITES);
  onTestFinished(() => provider.close());
  const chosen = { model: 'one' };
  const orion = await openOrion({
    workspace,
    provider: () => ({ type: 'openai', model: chosen.model, baseUrl: provider.url }),
    ...options,
  });
  const run = (request: Partial<TurnRequest>) =>
    collect(orion.runTurn({ content: 'Write it.', ...request }));
  return { orion, provider, chosen, run };
}

it('asks for the provider before each turn', async () => {
  const { provider, chosen, run } = await open();
  await run({ mode: 'plan' });
  chosen.model = 'two';
  await run({ mode: 'plan' });
  const models = provider.requests.map(({ body }) => (body as { readonly model: string }).model);
  expect(new Set(models)).toEqual(new Set(['one', 'two']));
  expect(models.at(-1)).toBe('two');
});

it('never approves in the turn that says so, before anything is streamed', async () => {
  const { run } = await open();
  const refused = await run({ approve: 'never' });
  expect(JSON.stringify(refused)).toContain('APPROVAL_REFUSED');
  expect(existsSync(join(workspace, 'a.txt'))).toBe(false);
  await run({});
  expect(existsSync(join(workspace, 'a.txt'))).toBe(true);
});

it('asks the reviewer of the turn, not that of the options', async () => {
  const asked: string[] = [];
  const review = (name: string) => () => {
    asked.push(name);
    return Promise.resolve({ approved: name === 'turn' });
  };
  const { run } = await open({ approve: review('options') });
  expect((await run({})).at(-1)).toMatchObject({ status: 'paused' });
  await run({ approve: review('turn') });
  expect(asked).toEqual(['options', 'turn']);
  expect(existsSync(join(workspace, 'a.txt'))).toBe(true);
});

it('asks the reviewer of a recovery, too', async () => {
  const { orion, run } = await open();
  const no = (): Promise<{ approved: boolean }> => Promise.resolve({ approved: false });
  await run({ approve: no });
  const [session] = await orion.listSessions();
  const sessionId = session?.session_id ?? '';
  await collect(orion.finalizeSession({ sessionId, approve: no }));
  expect(existsSync(join(workspace, 'a.txt'))).toBe(false);
  await collect(orion.finalizeSession({ sessionId }));
  expect(existsSync(join(workspace, 'a.txt'))).toBe(true);
});

it('lists the tools of a turn, without running one', async () => {
  const { orion } = await open({ commands: { environment: {}, home: null } });
  const { tools, leftOut } = await orion.listTools(new AbortController().signal);
  expect(leftOut).toEqual([]);
  const effects = Object.fromEntries(tools.map(({ name, effect }) => [name, effect]));
  expect(effects).toMatchObject({
    read_file: 'read',
    [BEGIN_TOOL_NAME]: 'write',
    'tool_outputs.list': 'read',
    run_command: 'write',
  });
  expect(tools.every(({ server, description }) => server === null && description !== '')).toBe(
    true,
  );
});

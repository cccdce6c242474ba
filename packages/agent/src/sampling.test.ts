import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Mode } from '@orion/contracts';
import { startScriptedProvider } from '@orion/llm-adapters/scripted';
import type { Script } from '@orion/llm-adapters/scripted';
import { collect } from '@orion/testkit';
import { beforeEach, expect, it } from 'vitest';

import { loadConfiguration } from './config/configuration.ts';
import { createOrion } from './create-orion.ts';
import { temporaryDirectory } from './testing/set-up.ts';

let workspace: string;
beforeEach(async () => {
  workspace = await temporaryDirectory();
});

type Asked = {
  readonly model: string;
  readonly mode: Mode;
  readonly type?: string;
  readonly protocol?: string;
  readonly environment?: Record<string, string>;
  readonly behaviours?: Script['behaviours'];
};

/** The bodies of all requests of a turn, as they were sent. */
async function bodiesSent(options: Asked): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const { model, mode, type = 'openai', environment = {}, protocol = 'standard' } = options;
  const provider = await startScriptedProvider({
    behaviours: options.behaviours ?? [{ reply: { text: 'Yes.' } }],
  });
  const { settings } = await loadConfiguration({
    flags: {},
    environment,
    workspace,
    homeDirectory: null,
  });
  const orion = await createOrion({
    workspace,
    store: 'memory',
    provider: { type, model, baseUrl: provider.url },
    settings,
  });
  try {
    const events = await collect(orion.runTurn({ content: 'q', mode, protocol }));
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'complete' });
    return provider.requests.map(({ body }) => body as Readonly<Record<string, unknown>>);
  } finally {
    await orion.close();
    await provider.close();
  }
}

async function temperaturesSent(options: Asked): Promise<readonly unknown[]> {
  return (await bodiesSent(options)).map(({ temperature }) => temperature ?? 'none');
}

it.each([
  ['gpt-4.1', 'plan', {}, 0.7],
  ['gpt-4.1', 'act', {}, 0.3],
  ['gpt-5', 'act', {}, 'none'],
  ['qwen3', 'plan', {}, 'none'],
  ['qwen3', 'plan', { ORION_TEMPERATURE: '0' }, 0],
  ['gpt-4.1', 'plan', { ORION_TEMPERATURE: '1.25' }, 1.25],
  // Said or not, the model would refuse it.
  ['gpt-5', 'act', { ORION_TEMPERATURE: '1' }, 'none'],
] as const)(
  'R143: %s in %s mode with %j is sent the temperature %s',
  async (model, mode, environment, sent) => {
    expect(await temperaturesSent({ model, mode, environment })).toEqual([sent]);
  },
);

it.each(['openai-responses', 'anthropic'])('R143: %s sends it, too', async (type) => {
  const model = type === 'anthropic' ? 'claude-sonnet-4-5' : 'gpt-4.1';
  expect(await temperaturesSent({ type, model, mode: 'plan' })).toEqual([0.7]);
});

it('R143: a file is written with the temperature of its turn', async () => {
  const begin = { intent: 't', target_file: 'a.txt', operation: 'create' };
  const sent = await temperaturesSent({
    model: 'gpt-4.1',
    mode: 'act',
    behaviours: [
      {
        when: { toolResults: 0 },
        reply: { toolCalls: [{ name: 'WritePlanTool_begin', arguments: begin }] },
      },
      { when: { toolChoice: 'none' }, reply: { text: 'one\nDONE\n' } },
      { reply: { text: 'Written.' } },
    ],
  });
  expect(sent).toEqual([0.3, 0.3, 0.3]);
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('one\n');
});

it('an answer is limited to the context that is set for a model', async () => {
  const limitSent = async (environment: Record<string, string>): Promise<unknown> => {
    const [body] = await bodiesSent({ model: 'qwen3', mode: 'plan', environment });
    return body?.['max_tokens'];
  };
  expect(await limitSent({})).toBe(8192);
  expect(await limitSent({ ORION_CONTEXT_TOKENS: '4096' })).toBeLessThan(4096);
});

it.each(['-1', '2.1', 'warm', '1e0', '0x1'])(
  'R235: ORION_TEMPERATURE=%s is refused at the start',
  async (text) => {
    const loading = loadConfiguration({
      flags: {},
      environment: { ORION_TEMPERATURE: text },
      workspace,
      homeDirectory: null,
    });
    await expect(loading).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: `ORION_TEMPERATURE is "${text}", but must be a number from 0 to 2.`,
    });
  },
);

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { JsonObject, Mode, RunEvent, Tool } from '@orion/contracts';
import { startScriptedProvider } from '@orion/llm-adapters/scripted';
import type { Script } from '@orion/llm-adapters/scripted';
import { collect } from '@orion/testkit';
import { expect, onTestFinished } from 'vitest';

import type { Orion, OrionOptions } from '../orion.ts';
import { openOrion, temporaryDirectory } from './set-up.ts';

export const PROTOCOLS = ['standard', 'two-stage', 'controller'] as const;
export type ProtocolUnderTest = (typeof PROTOCOLS)[number];

/** A step as the model of this protocol takes it; `name` is what its provider calls the tool. */
export function step(
  protocol: ProtocolUnderTest,
  name: string,
  args: JsonObject,
): Script['behaviours'][number] {
  if (protocol !== 'controller') {
    const toolCalls = [{ name: name.replace('.', '_'), arguments: args }];
    return { times: 1, reply: { toolCalls } };
  }
  const text = JSON.stringify({
    action: 'next_step',
    thinking: { task: 't' },
    step: { tool_name: name, arguments: JSON.stringify(args) },
    question: '',
    context: '',
  });
  return { times: 1, reply: { text } };
}

export function say(protocol: ProtocolUnderTest, message: string): Script['behaviours'][number] {
  const text =
    protocol === 'controller' ? JSON.stringify({ action: 'complete', message }) : message;
  return { times: 1, reply: { text } };
}

export type Sent = {
  readonly messages: readonly { readonly role: string; readonly content: string }[];
};

/** A turn of a new workspace, against a provider that answers so. */
export async function runTurn(
  protocol: ProtocolUnderTest,
  behaviours: Script['behaviours'],
  tools: readonly Tool[] = [],
  {
    mode = 'act',
    files = {},
    settings = {},
    prepare = () => Promise.resolve(),
  }: {
    readonly mode?: Mode;
    readonly files?: Readonly<Record<string, string>>;
    readonly settings?: OrionOptions['settings'];
    readonly prepare?: (orion: Orion) => Promise<void>;
  } = {},
): Promise<{
  readonly events: readonly RunEvent[];
  readonly requests: readonly Sent[];
  readonly orion: Orion;
}> {
  const workspace = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) await writeFile(join(workspace, name), text);
  const provider = await startScriptedProvider({ behaviours });
  const orion = await openOrion({
    workspace,
    tools,
    settings: { ...settings },
    provider: { type: 'openai', model: 'scripted', baseUrl: provider.url },
  });
  onTestFinished(async () => {
    await orion.close();
    await provider.close();
  });
  await prepare(orion);
  const events = await collect(orion.runTurn({ content: 'q', protocol, mode }));
  expect(provider.requests.flatMap(({ violations }) => violations)).toEqual([]);
  return {
    events,
    get requests() {
      return provider.requests.map(({ body }) => body as Sent);
    },
    orion,
  };
}

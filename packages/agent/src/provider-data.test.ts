import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { RunEvent } from '@orion/contracts';
import { startScriptedProvider } from '@orion/llm-adapters/scripted';
import type { ScriptedProvider } from '@orion/llm-adapters/scripted';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createOrion } from './create-orion.ts';
import { temporaryDirectory } from './testing/set-up.ts';

/**
 * Hazard: a provider signs the reasoning behind a call and refuses the conversation when the signature does not come
 * back; or it does come back, to a model that knows nothing of it, or is shown to a person.
 */

let workspace: string;
let provider: ScriptedProvider;
beforeEach(async () => {
  workspace = await temporaryDirectory();
  await writeFile(join(workspace, 'a.txt'), 'one\n');
});
afterEach(async () => {
  await provider.close();
});

const SIGNED = { google: { thought_signature: 'c2lnbmVk' } };

function callWith(extra: object): string {
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'read_file', arguments: '{"path":"a.txt"}' },
    extra_content: extra,
  };
  const choice = { index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' };
  return `data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`;
}

async function start(extra: object): Promise<void> {
  provider = await startScriptedProvider({
    behaviours: [
      { when: { toolResults: 0 }, reply: { raw: { body: callWith(extra) } } },
      { reply: { text: 'Done.' } },
    ],
  });
}

/** A turn of its own process: everything it knows of earlier ones comes from the store. */
async function turn(model: string, conversationId?: string) {
  const orion = await createOrion({
    workspace,
    provider: { type: 'openai', model, baseUrl: provider.url, apiKey: 'key-of-this-process' },
  });
  try {
    const events: RunEvent[] = [];
    for await (const event of orion.runTurn({
      content: 'Read a.txt',
      ...(conversationId === undefined ? {} : { conversationId }),
    }))
      events.push(event);
    const started = events.find((event) => event.type === 'done');
    if (started?.status !== 'complete') throw new Error(JSON.stringify(events.at(-1)));
    return events;
  } finally {
    await orion.close();
  }
}

/** What each request says of the call, undefined where there is none yet. */
const sentBack = () =>
  provider.requests.map(({ body }) => {
    const { messages } = body as {
      readonly messages: readonly {
        readonly tool_calls?: readonly { extra_content?: unknown }[];
      }[];
    };
    return messages
      .flatMap((message) => message.tool_calls ?? [])
      .map((call) => call.extra_content);
  });

it('goes back in the same turn and in later processes, and to no other model', async () => {
  await start(SIGNED);
  const conversationId = 'conversation';
  const events = await turn('gemini-3-pro', conversationId);
  await turn('gemini-3-pro', conversationId);
  await turn('another', conversationId);
  expect(provider.requests.flatMap(({ violations }) => violations)).toEqual([]);
  expect(sentBack()).toEqual([[], [SIGNED], [SIGNED], [undefined]]);
  expect(JSON.stringify(events)).not.toContain('c2lnbmVk');
});

it('is not stored where it holds a key', async () => {
  await start({ google: { thought_signature: 'key-of-this-process' } });
  await turn('m', 'conversation');
  await turn('m', 'conversation');
  expect(sentBack().at(-1)).toEqual([undefined]);
});

it('is the reasoning before the call of a write, in every request that repeats the call', async () => {
  const write = { intent: 'test', target_file: 'b.txt', operation: 'create' };
  provider = await startScriptedProvider({
    shape: { reasoning: 'First think.', chunk: 6 },
    behaviours: [
      { when: { toolChoice: 'none' }, reply: { text: 'new\nDONE' } },
      { times: 1, reply: { toolCalls: [{ name: BEGIN_TOOL_NAME, arguments: write }] } },
      { reply: { text: 'Done.' } },
    ],
  });
  await turn('kimi-k2.6', 'conversation');
  await turn('kimi-k2.6', 'conversation');
  expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toBe('new\n');
  const thoughts = provider.requests.map(({ body }) => {
    const { messages } = body as { readonly messages: readonly Record<string, unknown>[] };
    return messages
      .filter((message) => message['tool_calls'] !== undefined)
      .map((message) => message['reasoning_content']);
  });
  expect(thoughts).toEqual([[], ['First think.'], ['First think.'], ['First think.']]);
});

import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { RunEvent } from '@orion/contracts';
import { startScriptedProvider } from '@orion/llm-adapters/scripted';
import type { Script, ScriptedProvider } from '@orion/llm-adapters/scripted';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { createOrion } from './create-orion.ts';

/**
 * Hazard: a message that the provider has refused ends in order. Taken for an answer, the turn is complete; taken for
 * the content of a file, the refusal is what stands in the file.
 */

const SESSIONS = '.orion/logs/write_sessions';

let workspace: string;
let provider: ScriptedProvider | null = null;
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'orion-refusal-'));
});
afterEach(async () => {
  await provider?.close();
  provider = null;
  await rm(workspace, { recursive: true, force: true });
});

async function turn(behaviours: Script['behaviours']) {
  provider = await startScriptedProvider({ behaviours });
  const orion = await createOrion({
    workspace,
    store: 'memory',
    provider: { type: 'openai', model: 'scripted', baseUrl: provider.url },
  });
  try {
    const events: RunEvent[] = [];
    for await (const event of orion.runTurn({ content: 'Write a.txt' })) events.push(event);
    expect(provider.requests.flatMap(({ violations }) => violations)).toEqual([]);
    return { events, requests: provider.requests };
  } finally {
    await orion.close();
  }
}

const begin = {
  toolCalls: [
    {
      name: 'WritePlanTool_begin',
      arguments: { intent: 't', target_file: 'a.txt', operation: 'create' },
    },
  ],
};

it('ends a turn as incomplete, and says why (R153)', async () => {
  const { events, requests } = await turn([
    { reply: { text: 'I will not.', finishReason: 'content_filter' } },
  ]);
  expect(requests).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({
    type: 'done',
    status: 'incomplete',
    fullContent: 'I will not.',
  });
  expect(JSON.stringify(events)).toContain('The model or its provider refused to answer.');
});

it.for(['one line\nI will not.', 'one line\nDONE'])(
  'pauses a write session instead of taking a refusal for the end of the file: %j (R160)',
  async (text) => {
    const { events, requests } = await turn([
      { when: { toolResults: 0 }, reply: begin },
      { reply: { text, finishReason: 'content_filter' } },
    ]);
    // Asked again it would only be refused again.
    expect(requests).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ type: 'done', status: 'paused' });
    const paused = events.find((event) => event.type === 'write_session' && 'paused' in event);
    expect(paused).toMatchObject({
      status: 'session_active.paused',
      code: 'MODEL_REFUSED',
      targetFile: 'a.txt',
    });
    await expect(access(join(workspace, 'a.txt'))).rejects.toThrow('ENOENT');
    // What came is kept, for whoever goes on with it.
    const [session] = await readdir(join(workspace, SESSIONS));
    const kept = await readFile(join(workspace, SESSIONS, session ?? '', 'content.txt'), 'utf8');
    expect(kept).toMatch(/^one line\n/);
  },
);

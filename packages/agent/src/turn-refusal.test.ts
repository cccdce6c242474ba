import { access, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Script } from '@orion/llm-adapters/scripted';
import { beforeEach, expect, it } from 'vitest';
import { temporaryDirectory, scriptedTurn } from './testing/set-up.ts';

/**
 * Hazard: a message that the provider has refused ends in order. Taken for an answer, the turn is complete; taken for
 * the content of a file, the refusal is what stands in the file.
 */

const SESSIONS = '.orion/logs/write_sessions';

let workspace: string;
beforeEach(async () => {
  workspace = await temporaryDirectory();
});

const turn = (behaviours: Script['behaviours']) =>
  scriptedTurn(workspace, behaviours, { content: 'Write a.txt' });

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

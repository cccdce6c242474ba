import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { RunEvent } from '@orion/contracts';
import type { Behaviour, Script } from '@orion/llm-adapters/scripted';
import { beforeEach, expect, it } from 'vitest';

import type { TurnRequest } from './orion.ts';
import { temporaryDirectory, scriptedTurn } from './testing/set-up.ts';

/**
 * Hazard: what the protocols promise is lost between the library's door and the provider. Scenarios A7 and A8 of the
 * requirements, through `createOrion` and a real provider connection.
 */

let workspace: string;
beforeEach(async () => {
  workspace = await temporaryDirectory();
});

type SentMessage = {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly { readonly id: string }[];
};

type SentRequest = { readonly messages: readonly SentMessage[]; readonly tools?: unknown };

async function turn(
  behaviours: Script['behaviours'],
  request: TurnRequest,
): Promise<{ readonly events: readonly RunEvent[]; readonly requests: readonly SentRequest[] }> {
  const { events, requests } = await scriptedTurn(workspace, behaviours, request);
  return { events, requests: requests.map(({ body }) => body as SentRequest) };
}

function readFile(path: string, text?: string): Behaviour['reply'] {
  return {
    ...(text === undefined ? {} : { text }),
    toolCalls: [{ name: 'read_file', arguments: { path } }],
  };
}

it('A7: two-stage reads once, refuses three duplicates and answers in the fifth call (R148, R149, R151)', async () => {
  await writeFile(join(workspace, 'a.txt'), 'the content\n');
  const { events, requests } = await turn(
    [
      { when: { system: 'Answer now', tools: false }, reply: { text: 'Answer.\n' } },
      { when: { toolResults: 0 }, reply: readFile('a.txt', 'Look. ') },
      { reply: readFile('./a.txt') },
    ],
    { content: 'q', projectId: 'P1', protocol: 'two_stage' },
  );

  expect(requests).toHaveLength(5);
  expect(requests[4]?.tools).toBeUndefined();
  expect(requests[4]?.messages.at(-1)).toMatchObject({
    role: 'system',
    content: 'Maximum duplicate attempts reached. Answer now with existing results.',
  });
  const [assistant, tool] = requests[1]?.messages.slice(-2) ?? [];
  expect(assistant).toMatchObject({ role: 'assistant', content: 'Look. ' });
  expect(tool).toMatchObject({ role: 'tool', tool_call_id: assistant?.tool_calls?.[0]?.id });
  // The tool ran once; its result is the only one with the file's text in it.
  expect(events.filter((event) => event.type === 'tool_result').map((event) => event.ok)).toEqual([
    true,
    false,
    false,
    false,
  ]);
  expect(events.filter((event) => event.type === 'done')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({
    type: 'done',
    status: 'stopped',
    stopReason: 'duplicates',
    fullContent: 'Look. Answer.\n',
    protocol: 'two-stage',
    protocolReason: 'request',
  });
  for (const event of events) {
    const line = JSON.stringify(event);
    expect(line).not.toContain('\n');
    expect(JSON.parse(line)).toMatchObject({
      requestId: events[0]?.requestId,
      phaseIndex: expect.any(Number) as number,
      cycleIndex: expect.any(Number) as number,
    });
  }
});

it('A7: a model that only ever emits a broken call makes at most 4 calls and one done (R150)', async () => {
  const { events, requests } = await turn(
    [{ reply: { toolCalls: [{ name: 'read_file', arguments: '{"pa' }], finishReason: 'stop' } }],
    { content: 'q', protocol: 'two_stage' },
  );

  expect(requests.length).toBeLessThanOrEqual(4);
  expect(events.filter((event) => event.type === 'done')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'incomplete' });
});

it('A8: PLAN runs neither begin nor what only begins like an allowed tool (R177, R178)', async () => {
  const begin = { intent: 't', target_file: 'd/a.txt', operation: 'create' };
  const { events, requests } = await turn(
    [
      { when: { toolResults: 2 }, reply: { text: 'ok' } },
      {
        reply: {
          toolCalls: [
            { name: 'WritePlanTool_begin', arguments: begin },
            { name: 'read_file_and_delete', arguments: { path: 'a.txt' } },
          ],
        },
      },
    ],
    { content: 'q', mode: 'plan' },
  );

  expect(events.filter((event) => event.type === 'tool_result')).toMatchObject([
    { toolName: 'WritePlanTool_begin', ok: false },
    { toolName: 'read_file_and_delete', ok: false },
  ]);
  const answered = requests[1]?.messages.filter(({ role }) => role === 'tool');
  expect(answered).toHaveLength(2);
  const notices = events.filter((event) => event.type === 'chunk' && event.source === 'notice');
  expect(notices).toHaveLength(1);
  expect(JSON.stringify(notices)).toMatch(/WritePlanTool_begin, read_file_and_delete.*ACT mode/);
  expect(events.filter((event) => event.type === 'done')).toMatchObject([
    { fullContent: 'ok', status: 'complete' },
  ]);
  expect(events.at(-1)?.type).toBe('done');
  await expect(access(join(workspace, 'd'))).rejects.toThrow('ENOENT');
});

// Acceptance A7 through `orion serve`: two-stage and duplicates, as an HTTP client sees them.
import { expect } from 'vitest';

import type { Behaviour } from '@orion/llm-adapters/scripted';

import { sent } from './support/requests.ts';
import { at } from './support/sandbox.ts';
import { say, serve } from './support/serve.ts';
import { test } from './support/test.ts';

const ROUTE = '/api/chat/messages_two_stage';

const readFile = (path: string, text?: string): Behaviour['reply'] => ({
  ...(text === undefined ? {} : { text }),
  toolCalls: [{ name: 'read_file', arguments: { path } }],
});

test.concurrent('A7: a tool runs once, its duplicates are refused, and one done ends the stream', async ({
  machine,
}) => {
  await machine.write('a.txt', 'the content\n');
  const provider = await machine.provider({
    behaviours: [
      { when: { system: 'Answer now', tools: false }, reply: { text: 'Answer.\n' } },
      { when: { toolResults: 0 }, reply: readFile('a.txt', 'Look. ') },
      { reply: readFile('./a.txt') },
    ],
  });
  const server = await serve(machine, at(provider));
  const { answer, frames, events } = await say(server, { projectId: 'P1', content: 'q' }, ROUTE);

  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^text\/event-stream/u);
  expect(answer.headers.location).toBe(`/api/turns/${events[0]?.requestId ?? ''}`);
  const requests = sent(provider.requests);
  expect(requests).toHaveLength(5);
  expect(requests[4]?.tools).toBeUndefined();
  expect(requests[4]?.messages.at(-1)).toMatchObject({
    role: 'system',
    content: 'Maximum duplicate attempts reached. Answer now with existing results.',
  });
  const [assistant, tool] = requests[1]?.messages.slice(-2) ?? [];
  expect(assistant).toMatchObject({ role: 'assistant', content: 'Look. ' });
  expect(tool).toMatchObject({ role: 'tool', tool_call_id: assistant?.tool_calls?.[0]?.id });
  const results = events.filter((event) => event.type === 'tool_result');
  expect(results.map(({ ok }) => ok)).toEqual([true, false, false, false]);

  expect(frames.filter(({ event }) => event === 'done')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({
    type: 'done',
    status: 'stopped',
    stopReason: 'duplicates',
    fullContent: 'Look. Answer.\n',
    protocol: 'two-stage',
  });
  // A line of JSON each, numbered from 1 without a hole, with what R183 names.
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  for (const [index, { id, event }] of frames.entries()) {
    expect(id).toMatch(new RegExp(`^${index + 1}\\.[0-9a-z]+$`, 'u'));
    expect(event).toBe(events[index]?.type);
    expect(events[index]).toMatchObject({
      requestId: events[0]?.requestId,
      projectId: 'P1',
      protocol: 'two-stage',
      phase: expect.any(String) as string,
      phaseIndex: expect.any(Number) as number,
      cycleIndex: expect.any(Number) as number,
    });
  }
});

test.concurrent('A7: a model that only ever emits a broken call makes at most 4 calls and one done', async ({
  machine,
}) => {
  const provider = await machine.provider({
    behaviours: [
      { reply: { toolCalls: [{ name: 'read_file', arguments: '{"pa' }], finishReason: 'stop' } },
    ],
  });
  const server = await serve(machine, at(provider));
  const { frames, events } = await say(server, { projectId: 'P1', content: 'q' }, ROUTE);
  expect(provider.requests.length).toBeLessThanOrEqual(4);
  expect(frames.filter(({ event }) => event === 'done')).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ type: 'done', status: 'incomplete' });
});

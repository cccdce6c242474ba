import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createProtocolContext,
  expectValidHistory,
  outcomeOf,
  readTool,
  toolCall,
} from '@orion/testkit';
import { expect, test } from 'vitest';
import { createStandardProtocol } from './standard-protocol.ts';

const begin = toolCall('b', 'WritePlanTool_begin', { target_file: 'a.md' });

async function run(calls: readonly ReturnType<typeof toolCall>[]) {
  const toolRegistry = createFakeToolRegistry({
    WritePlanTool_begin: {
      effect: 'write',
      run: () => ({ success: true, result: { stage: 'awaiting_content' }, next: 'content' }),
    },
    read_file: readTool('abc'),
  });
  const adapter = createFakeAdapter([callsReply(calls, 'I write it.')]);
  const context = createProtocolContext({ adapter, toolRegistry });
  const events = await collect(createStandardProtocol().executeStreaming(context));
  return { toolRegistry, events, outcome: outcomeOf(events), context, adapter };
}

test('a begin ends the run; calls before it ran, calls after it are answered (R160)', async () => {
  const { toolRegistry, outcome, context, events } = await run([
    toolCall('1', 'read_file', { path: 'x' }),
    begin,
    toolCall('2', 'read_file', { path: 'y' }),
    toolCall('3', 'WritePlanTool_begin', { target_file: 'b.md' }),
  ]);
  expect(toolRegistry.ran).toEqual(['1', 'b']);
  expect(outcome).toMatchObject({
    kind: 'handover',
    call: begin,
    result: { toolCallId: 'b', next: 'content' },
  });
  expectValidHistory([...context.messages, ...outcome.appended]);
  const contents = outcome.appended.slice(1).map((message) => message.content);
  expect(contents[1]).toBe('{"stage":"awaiting_content"}');
  for (const content of contents.slice(2)) {
    expect(content).toMatch(/SESSION_BUSY|SESSION_ALREADY_ACTIVE/u);
    expect(content).toContain('call again after it');
  }
  expect(contents.at(-1)).toContain('Another write session is already active.');
  expect(events.filter((event) => event.type === 'tool_result')).toHaveLength(4);
  expect(context.turnState).toMatchObject({ iterations: 1, cycleIndex: 2 });
});

test('an open begin is not yet an executed call (R175)', async () => {
  const { context } = await run([begin]);
  expect(context.turnState.executed).toEqual({});
});

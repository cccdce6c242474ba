import { createTurnState } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createFakeTrace,
  createProtocolContext,
  readTool,
  textReply,
  toolCall,
} from '@orion/testkit';
import { expect, test } from 'vitest';
import { createStandardProtocol } from './standard-protocol.ts';

const fileContent = 'CONTENT OF THE FILE';

const setup = () => {
  const traceService = createFakeTrace();
  const toolRegistry = createFakeToolRegistry({
    read_file: readTool({ content: fileContent }),
    write_file: { effect: 'write', run: () => ({ success: true, result: 'ok' }) },
  });
  return { traceService, toolRegistry };
};

test('the milestones of a turn, in order, with phase and cycle (R157, R232)', async () => {
  const { traceService, toolRegistry } = setup();
  const adapter = createFakeAdapter([
    callsReply([
      toolCall('1', 'read_file', { path: 'a' }),
      toolCall('2', 'read_file', '{"path"', 'cut'),
    ]),
    textReply('a', 'b', 'c'),
  ]);
  await collect(
    createStandardProtocol().executeStreaming(
      createProtocolContext({ adapter, toolRegistry, traceService }),
    ),
  );
  expect(
    traceService.events.map((event) => [event.type, event.phaseIndex, event.cycleIndex]),
  ).toEqual([
    ['tool_registration', undefined, 0],
    ['phase_start', 0, 0],
    ['llm_call', 0, 0],
    ['llm_result', 0, 0],
    ['phase_end', 0, 0],
    ['phase_start', 1, 0],
    ['tool_call', 1, 0],
    ['tool_executed', 1, 1],
    ['tool_result', 1, 1],
    ['tool_call', 1, 1],
    ['tool_result', 1, 1],
    ['phase_end', 1, 1],
    ['phase_start', 2, 1],
    ['llm_call', 2, 1],
    ['llm_result', 2, 1],
    ['phase_end', 2, 1],
  ]);
  for (const event of traceService.events) {
    expect(event).toMatchObject({
      projectId: 'project',
      requestId: 'request',
      source: 'protocol:standard',
    });
  }
  expect(traceService.ofType('phase_end').map((event) => event.details)).toEqual([
    { phase: 'action', reason: 'tool_calls' },
    { phase: 'tool', reason: 'complete' },
    { phase: 'action', reason: 'stop' },
  ]);
});

test('the tools of a request are traced once, with their real names (R168)', async () => {
  const { traceService, toolRegistry } = setup();
  const turnState = createTurnState();
  for (let run = 0; run < 2; run++) {
    const adapter = createFakeAdapter([textReply('a')]);
    await collect(
      createStandardProtocol().executeStreaming(
        createProtocolContext({ adapter, toolRegistry, traceService, turnState }),
      ),
    );
  }
  expect(traceService.ofType('tool_registration')).toMatchObject([
    { details: { tools: ['read_file', 'write_file'], mode: 'act' } },
  ]);
});

test('no file content and no text of the model is traced, arguments are cut (R230)', async () => {
  const { traceService, toolRegistry } = setup();
  const args = JSON.stringify({ path: 'a', note: 'x'.repeat(5000) });
  const adapter = createFakeAdapter([
    callsReply([toolCall('1', 'read_file', args)]),
    textReply(...Array.from({ length: 200 }, () => 'TEXT OF THE MODEL ')),
  ]);
  await collect(
    createStandardProtocol().executeStreaming(
      createProtocolContext({ adapter, toolRegistry, traceService }),
    ),
  );
  const text = JSON.stringify(traceService.events);
  expect(text).not.toContain(fileContent);
  expect(text).not.toContain('TEXT OF THE MODEL');
  expect(traceService.ofType('tool_call')[0]?.details).toMatchObject({
    arguments: args.slice(0, 2048),
    argumentsLength: args.length,
  });
  expect(traceService.events.length).toBeLessThan(20);
});

test('a key in use goes out of arguments before they are cut (issue 12, 11)', async () => {
  const { traceService, toolRegistry } = setup();
  const key = 'a-key-that-has-thirty-letters-';
  const args = `{"path":"${'x'.repeat(2030)}${key}"}`;
  await collect(
    createStandardProtocol().executeStreaming(
      createProtocolContext({
        adapter: createFakeAdapter([
          callsReply([toolCall('1', 'read_file', args)]),
          textReply('.'),
        ]),
        toolRegistry,
        traceService,
        redact: (text) => text.replaceAll(key, '*'),
      }),
    ),
  );
  expect(traceService.ofType('tool_call')[0]?.details).toMatchObject({
    arguments: `{"path":"${'x'.repeat(2030)}*"}`,
    argumentsLength: args.length,
  });
});

import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createFakeTrace,
  createProtocolContext,
  outcomeOf,
  readTool,
  textOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import { createTurnState } from '@orion/contracts';
import { expect, test } from 'vitest';
import { resolveProtocolConfig } from '../base/config.ts';
import { createStandardProtocol } from './standard-protocol.ts';

const tools = () =>
  createFakeToolRegistry({ read_file: readTool({ content: 'abc' }), list_files: readTool(['a']) });

const read = (id: string, path: string) => toolCall(id, 'read_file', { path });

test('runs all calls of a message in order and answers each (R140, R161)', async () => {
  const adapter = createFakeAdapter([
    callsReply([read('1', 'a'), toolCall('2', 'list_files')], 'I look.'),
    textReply('It is ', 'abc.'),
  ]);
  const toolRegistry = tools();
  const context = createProtocolContext({ adapter, toolRegistry });
  const events = await collect(createStandardProtocol().executeStreaming(context));
  adapter.assertConsumed();
  expect(toolRegistry.ran).toEqual(['1', '2']);
  expect(events.map((event) => event.type)).toEqual([
    'phase',
    'chunk',
    'tool_calls',
    'phase',
    'tool_result',
    'tool_result',
    'phase',
    'chunk',
    'chunk',
    'outcome',
  ]);
  expect(events.filter((event) => event.type === 'phase')).toEqual([
    { type: 'phase', phase: 'action', index: 0 },
    { type: 'phase', phase: 'tool', index: 1 },
    { type: 'phase', phase: 'action', index: 2 },
  ]);
  const appended = [
    {
      role: 'assistant',
      content: 'I look.',
      toolCalls: [read('1', 'a'), toolCall('2', 'list_files')],
    },
    { role: 'tool', toolCallId: '1', toolName: 'read_file', content: '{"content":"abc"}' },
    { role: 'tool', toolCallId: '2', toolName: 'list_files', content: '["a"]' },
  ];
  expect(adapter.requests[1]?.messages).toEqual([...context.messages, ...appended]);
  expect(outcomeOf(events)).toEqual({
    kind: 'complete',
    appended: [...appended, { role: 'assistant', content: 'It is abc.' }],
  });
  expect(context.turnState).toMatchObject({ iterations: 2, nextPhaseIndex: 3, cycleIndex: 2 });
});

test('offers the tools of the mode, and sends sampling only when it is set', async () => {
  const adapter = createFakeAdapter([textReply('a'), textReply('b')]);
  const toolRegistry = createFakeToolRegistry({
    read_file: readTool(1),
    write_file: { effect: 'write', run: () => ({}) },
  });
  await collect(
    createStandardProtocol().executeStreaming(
      createProtocolContext({ adapter, toolRegistry, mode: 'plan' }),
    ),
  );
  const config = resolveProtocolConfig({ temperature: 0, maxTokens: 10 });
  await collect(
    createStandardProtocol().executeStreaming(
      createProtocolContext({ adapter, toolRegistry, config }),
    ),
  );
  const [plan, act] = adapter.requests.map((request) => request.options);
  expect(plan?.tools?.map((tool) => tool.name)).toEqual(['read_file']);
  expect(act?.tools?.map((tool) => tool.name)).toEqual(['read_file', 'write_file']);
  expect(plan).not.toHaveProperty('temperature');
  expect(plan).not.toHaveProperty('max_tokens');
  expect(act).toMatchObject({ temperature: 0, max_tokens: 10 });
});

test('at the limit one last call goes out without tools, and its calls are ignored (R162)', async () => {
  const adapter = createFakeAdapter([
    callsReply([read('1', 'a')]),
    callsReply([read('2', 'b')]),
    callsReply([read('3', 'c')], 'Here it is.'),
  ]);
  const toolRegistry = tools();
  const traceService = createFakeTrace();
  const context = createProtocolContext({
    adapter,
    toolRegistry,
    traceService,
    config: resolveProtocolConfig({ limits: { standard: { maxIterations: 2 } } }),
  });
  const events = await collect(createStandardProtocol().executeStreaming(context));
  adapter.assertConsumed();
  expect(toolRegistry.ran).toEqual(['1', '2']);
  const last = adapter.requests[2];
  expect(last?.options.tools).toBeUndefined();
  expect(last?.messages.at(-1)).toEqual({
    role: 'system',
    content: 'Maximum tool iterations (2) reached. Answer now with existing results.',
  });
  const outcome = outcomeOf(events);
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'ceiling' });
  // The instruction stays out of the stored history: it would forbid tools to the next turn.
  expect(outcome.appended.map((message) => message.role)).toEqual([
    'assistant',
    'tool',
    'assistant',
    'tool',
    'assistant',
  ]);
  expect(outcome.appended.at(-1)).toEqual({ role: 'assistant', content: 'Here it is.' });
  expect(traceService.ofType('budget_exhausted')).toMatchObject([
    { details: { stopReason: 'ceiling', limit: 'maxIterations', value: 2 } },
  ]);
  expect(traceService.ofType('tool_call').at(-1)).toMatchObject({
    details: { callId: '3', treatment: 'ignored' },
  });
});

test('a limit of 0 asks for an answer without tools at once (R135)', async () => {
  const adapter = createFakeAdapter([textReply('Hi')]);
  const context = createProtocolContext({
    adapter,
    toolRegistry: tools(),
    config: resolveProtocolConfig({ limits: { standard: { maxIterations: 0 } } }),
  });
  const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  expect(adapter.requests[0]?.options.tools).toBeUndefined();
  expect(outcome.kind).toBe('stopped');
});

test('counts over the runs of one turn: phases, iterations and cycles go on (R154, R160)', async () => {
  const turnState = createTurnState();
  const run = async (...replies: Parameters<typeof createFakeAdapter>[0]) => {
    const adapter = createFakeAdapter(replies);
    const context = createProtocolContext({ adapter, toolRegistry: tools(), turnState });
    const events = await collect(createStandardProtocol().executeStreaming(context));
    return events.flatMap((event) => (event.type === 'phase' ? [event.index] : []));
  };
  expect(await run(callsReply([read('1', 'a')]), textReply('a'))).toEqual([0, 1, 2]);
  expect(await run(callsReply([read('2', 'b')]), textReply('b'))).toEqual([3, 4, 5]);
  expect(turnState).toMatchObject({ iterations: 4, nextPhaseIndex: 6, cycleIndex: 2 });
});

test.each([
  ['no text', textReply(), 'No final answer was produced.'],
  ['blanks only', textReply(' \n'), 'No final answer was produced.'],
  [
    'a cut answer',
    [
      { type: 'text-delta', text: 'Half' },
      { type: 'finish', reason: 'length' },
    ],
    'The answer was cut at the output limit of the model.',
  ],
] as const)('%s is incomplete, and a notice says why (R153)', async (_title, reply, notice) => {
  const context = createProtocolContext({ adapter: createFakeAdapter([reply]) });
  const events = await collect(createStandardProtocol().executeStreaming(context));
  expect(outcomeOf(events).kind).toBe('incomplete');
  expect(textOf(events, 'notice')).toBe(notice);
});

test('continues after a pause of the provider, within the limit of iterations', async () => {
  const adapter = createFakeAdapter([
    [
      { type: 'text-delta', text: 'One, ' },
      { type: 'finish', reason: 'pause' },
    ],
    textReply('two.'),
  ]);
  const events = await collect(
    createStandardProtocol().executeStreaming(createProtocolContext({ adapter })),
  );
  adapter.assertConsumed();
  expect(textOf(events)).toBe('One, two.');
  expect(adapter.requests[1]?.messages.at(-1)).toEqual({ role: 'assistant', content: 'One, ' });
});

test.each(['', ' \n'])('a pause of %j is no empty answer (R153)', async (text) => {
  const adapter = createFakeAdapter([
    [
      { type: 'text-delta', text },
      { type: 'finish', reason: 'pause' },
    ],
    textReply('Here.'),
  ]);
  const events = await collect(
    createStandardProtocol().executeStreaming(createProtocolContext({ adapter })),
  );
  adapter.assertConsumed();
  expect(outcomeOf(events)).toEqual({
    kind: 'complete',
    appended: [{ role: 'assistant', content: 'Here.' }],
  });
  expect(textOf(events, 'notice')).toBe('');
});

test('forwards usage as it comes', async () => {
  const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0, reasoningTokens: 0 };
  const adapter = createFakeAdapter([
    [
      { type: 'text-delta', text: 'a' },
      { type: 'usage', usage },
      { type: 'finish', reason: 'stop' },
    ],
  ]);
  const events = await collect(
    createStandardProtocol().executeStreaming(createProtocolContext({ adapter })),
  );
  expect(events).toContainEqual({ type: 'usage', usage });
});

test('sends no empty or malformed message, but an empty one with calls (R142)', async () => {
  const adapter = createFakeAdapter([textReply('a')]);
  const call = read('1', 'a');
  const kept = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: '', toolCalls: [call] },
    { role: 'tool', toolCallId: '1', toolName: 'read_file', content: '' },
  ] as const;
  const messages = [
    { role: 'system', content: '' },
    { role: 'user', content: ' \n' },
    { role: 'assistant', content: '' },
    { role: 'assistant', content: '', toolCalls: [] },
    { role: 'robot', content: 'a' },
    { role: 'user', content: 7 },
    { role: 'tool', toolCallId: '', toolName: 'x', content: 'a' },
    null,
    ...kept,
  ] as never;
  await collect(
    createStandardProtocol().executeStreaming(createProtocolContext({ adapter, messages })),
  );
  expect(adapter.requests[0]?.messages).toEqual(kept);
});

test('shows tool results as notices only when asked to (R166)', async () => {
  for (const debugShowToolResults of [false, true]) {
    const adapter = createFakeAdapter([callsReply([read('1', 'a')]), textReply('b')]);
    const context = createProtocolContext({
      adapter,
      toolRegistry: tools(),
      config: resolveProtocolConfig({ debugShowToolResults }),
    });
    const events = await collect(createStandardProtocol().executeStreaming(context));
    expect(textOf(events)).toBe('b');
    expect(textOf(events, 'notice')).toBe(
      debugShowToolResults ? '[read_file] {"content":"abc"}' : '',
    );
  }
});

test('takes a key in use out of a shown result before it is cut (issue 12, 11)', async () => {
  const key = 'a-key-that-has-thirty-letters-';
  const before = 'x'.repeat(2048 - '{"content":"'.length - 20);
  const adapter = createFakeAdapter([callsReply([read('1', 'a')]), textReply('b')]);
  const context = createProtocolContext({
    adapter,
    toolRegistry: createFakeToolRegistry({ read_file: readTool({ content: `${before}${key}` }) }),
    config: resolveProtocolConfig({ debugShowToolResults: true }),
    redact: (text) => text.replaceAll(key, '*'),
  });
  const events = await collect(createStandardProtocol().executeStreaming(context));
  expect(textOf(events, 'notice')).toBe(`[read_file] {"content":"${before}*"}`);
  // The model reads it as it is.
  expect(adapter.requests[1]?.messages.at(-1)?.content).toContain(key);
});

test('what the provider wants back stays with its message and its calls, and is in no event', async () => {
  const data = (value: string) => ({ adapter: 'fake', model: 'fake-model', value });
  const signed = { ...read('1', 'a'), providerData: data('of the call') };
  const adapter = createFakeAdapter([
    [
      { type: 'tool-call-end', index: 0, call: signed },
      { type: 'finish', reason: 'tool_calls', providerData: data('of the message') },
    ],
    [
      { type: 'text-delta', text: 'abc' },
      { type: 'finish', reason: 'stop', providerData: data('of the answer') },
    ],
  ]);
  const context = createProtocolContext({ adapter, toolRegistry: tools() });
  const events = await collect(createStandardProtocol().executeStreaming(context));
  expect(adapter.requests[1]?.messages.at(-2)).toEqual({
    role: 'assistant',
    content: '',
    toolCalls: [signed],
    providerData: data('of the message'),
  });
  const { appended } = outcomeOf(events);
  expect(appended.at(-1)).toEqual({
    role: 'assistant',
    content: 'abc',
    providerData: data('of the answer'),
  });
});

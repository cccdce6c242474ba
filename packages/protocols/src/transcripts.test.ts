/**
 * Whole turns, word by word: what the model is sent, what the caller hears, and what is recorded. Every other test says
 * which part of it matters and why; this one notices any other change. `vitest run packages/protocols -u` writes the
 * files anew.
 */
import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { LlmEvent, ProtocolStrategy, ToolCall } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createFakeTrace,
  createProtocolContext,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { SentRequest } from '@orion/testkit';
import { expect, test } from 'vitest';
import { resolveProtocolConfig } from './base/config.ts';
import type { ProtocolConfigInput } from './base/config.ts';
import { createContentProtocol } from './content/content-protocol.ts';
import { createControllerProtocol } from './controller/controller-protocol.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';
import { createTwoStageProtocol } from './two-stage/two-stage-protocol.ts';

type Scene = {
  readonly name: string;
  readonly protocol: () => ProtocolStrategy;
  readonly replies: readonly (readonly LlmEvent[])[];
  readonly config?: ProtocolConfigInput;
  readonly mode?: 'plan' | 'act';
};

const usage: LlmEvent = {
  type: 'usage',
  usage: { inputTokens: 10, outputTokens: 4, cachedTokens: 2, reasoningTokens: 1 },
};
const ended = (reason: 'length' | 'refusal' | 'pause', ...texts: string[]): LlmEvent[] => [
  ...textReply(...texts).slice(0, -1),
  { type: 'finish', reason },
];
const say = (value: object): LlmEvent[] => textReply(JSON.stringify(value));
const step = (tool: string, more: object = {}): LlmEvent[] =>
  say({ action: 'next_step', thinking: { task: 't' }, tool, args: { path: 'a' }, ...more });
const read = (id: string, path: string): ToolCall => toolCall(id, 'read_file', { path });
const begin = toolCall('b', BEGIN_TOOL_NAME, { target_file: 'a.md' });
const kept = { name: 'content', path: '/kept/a.txt', lines: 1, bytes: 7 };
const broken: ToolCall = { ...toolCall('k', 'read_file', '{"content": "x', 'cut'), kept: [kept] };
const raw: ToolCall = {
  ...toolCall('r', 'strict', '{"content": oh}', 'malformed'),
  kept: [{ ...kept, lines: 2, raw: true }],
};

const SCENES: readonly Scene[] = [
  {
    name: 'standard-tools',
    protocol: createStandardProtocol,
    config: { temperature: 0.5, maxTokens: 900 },
    replies: [
      callsReply([read('1', 'a'), toolCall('2', 'strict'), read('3', 'a')], 'Let me see.'),
      callsReply([toolCall('6', 'told')]),
      callsReply([toolCall('4', 'throws'), toolCall('5', 'silent'), toolCall('', 'nowhere')]),
      [...textReply('It is ', 'done.').slice(0, -1), usage, { type: 'finish', reason: 'stop' }],
    ],
  },
  {
    name: 'standard-refused-calls',
    protocol: createStandardProtocol,
    config: { debugShowToolResults: true },
    replies: [
      callsReply([
        broken,
        raw,
        toolCall('n', ' '),
        toolCall('c', 'read_file', '[1]', 'malformed'),
        toolCall('bad name!', 'bad name!', '', 'malformed'),
      ]),
      callsReply([toolCall('l', 'large', { text: 'x'.repeat(1_100) }), toolCall('o', 'long')]),
      textReply('done'),
    ],
  },
  {
    name: 'standard-plan',
    protocol: createStandardProtocol,
    mode: 'plan',
    replies: [callsReply([toolCall('1', 'write_file'), read('2', 'a')]), textReply('A plan.')],
  },
  {
    name: 'standard-handover',
    protocol: createStandardProtocol,
    replies: [callsReply([read('1', 'a'), begin, { ...begin, id: 'c' }, read('2', 'b')])],
  },
  {
    name: 'standard-duplicates',
    protocol: createStandardProtocol,
    config: { maxDuplicateAttempts: 2 },
    replies: [
      callsReply([read('1', 'a')]),
      callsReply([read('2', 'a')]),
      callsReply([read('3', 'a')]),
      textReply('Enough.'),
    ],
  },
  {
    name: 'standard-idle',
    protocol: createStandardProtocol,
    replies: [
      callsReply([toolCall('1', 'same', { n: 1 })]),
      callsReply([toolCall('2', 'strict', { n: 2 })]),
      callsReply([toolCall('3', 'strict', { n: 3 })]),
      ended('length', 'Cut'),
    ],
  },
  {
    name: 'standard-ceiling',
    protocol: createStandardProtocol,
    config: { limits: { standard: { maxIterations: 1 } } },
    replies: [callsReply([read('1', 'a')]), callsReply([read('2', 'b')])],
  },
  {
    name: 'standard-budget',
    protocol: createStandardProtocol,
    config: { budget: { maxTurns: 1 } },
    replies: [callsReply([read('1', 'a')])],
  },
  {
    name: 'standard-ends',
    protocol: createStandardProtocol,
    replies: [ended('pause', 'One'), ended('length', 'Two')],
  },
  {
    name: 'standard-refusal',
    protocol: createStandardProtocol,
    replies: [ended('refusal', 'I will not.')],
  },
  { name: 'standard-blank', protocol: createStandardProtocol, replies: [textReply(' \n')] },
  {
    name: 'standard-truncated',
    protocol: createStandardProtocol,
    replies: [[{ type: 'text-delta', text: 'Half' }]],
  },
  {
    name: 'two-stage-tools',
    protocol: createTwoStageProtocol,
    config: { limits: { 'two-stage': { maxPhaseCycles: 2 } } },
    replies: [
      callsReply([read('1', 'a'), read('2', 'b')]),
      callsReply([broken]),
      callsReply([read('3', 'c')], 'Here.'),
    ],
  },
  {
    name: 'controller-steps',
    protocol: createControllerProtocol,
    replies: [
      step('read_file', { description: 'look', mood: 'fine' }),
      textReply('no json'),
      step('strict'),
      say({ action: 'ask_user', question: 'Which?', context: 'Two.', thinking: 'hm' }),
    ],
  },
  {
    name: 'controller-same-failure',
    protocol: createControllerProtocol,
    replies: [step('strict'), step('strict'), say({ action: 'complete', message: 'No.' })],
  },
  {
    name: 'controller-unusable',
    protocol: createControllerProtocol,
    replies: [ended('length', '{"action'), textReply('[]'), textReply('')],
  },
  {
    name: 'controller-turns',
    protocol: createControllerProtocol,
    config: { limits: { controller: { maxControllerTurns: 1 } } },
    replies: [step('read_file'), step('read_file')],
  },
  {
    name: 'controller-calls-of-a-step',
    protocol: createControllerProtocol,
    config: { limits: { controller: { maxToolCallsPerStep: 1 } } },
    replies: [
      step('read_file'),
      step('same'),
      say({ action: 'guardrail_stop', reason: 'No.', message: 'I may not.' }),
    ],
  },
  {
    name: 'standard-refused-last-answer',
    protocol: createStandardProtocol,
    config: { limits: { standard: { maxIterations: 1 } } },
    replies: [callsReply([read('1', 'a')]), ended('refusal', 'No more.')],
  },
  {
    name: 'controller-refusal',
    protocol: createControllerProtocol,
    replies: [ended('refusal', JSON.stringify({ action: 'guardrail_stop', reason: 'Never.' }))],
  },
  {
    name: 'controller-begin',
    protocol: createControllerProtocol,
    replies: [step(BEGIN_TOOL_NAME)],
  },
  {
    name: 'content-native',
    protocol: () => createContentProtocol(),
    config: { temperature: 0, maxTokens: 7 },
    replies: [
      [
        { type: 'text-delta', text: 'a\n' },
        usage,
        ...callsReply([read('1', 'a')]).slice(0, -1),
        { type: 'finish', reason: 'stop' },
      ],
    ],
  },
  {
    name: 'content-text',
    protocol: () => createContentProtocol(createControllerProtocol()),
    replies: [[{ type: 'text-delta', text: 'a' }]],
  },
  {
    name: 'content-budget',
    protocol: () => createContentProtocol(),
    config: { budget: { maxTurns: 0 } },
    replies: [],
  },
];

test.for(SCENES)('$name', async ({ name, protocol, replies, config, mode = 'act' }) => {
  const adapter = createFakeAdapter(replies, { structuredOutput: true });
  const traceService = createFakeTrace();
  const context = createProtocolContext({
    adapter,
    traceService,
    toolRegistry: registry(),
    mode,
    config: resolveProtocolConfig(config),
    messages: [
      { role: 'system', content: 'You are helpful.' },
      { role: 'user', content: 'Earlier' },
      { role: 'assistant', content: '', toolCalls: [read('step_0', 'z')] },
      { role: 'tool', toolCallId: 'step_0', toolName: 'read_file', content: '{"read":"z"}' },
      { role: 'assistant', content: 'That was it.' },
      { role: 'user', content: 'Hello' },
    ],
  });
  const events = await collect(protocol().executeStreaming(context));
  adapter.assertConsumed();
  const text = [
    ...requestLines(adapter.requests),
    'EVENTS',
    ...events.map(lineOf),
    'RECORDED',
    ...traceService.events.map(lineOf),
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot(`__snapshots__/transcripts/${name}.txt`);
});

/** Of a request what the one before it did not have. */
function requestLines(requests: readonly SentRequest[]): string[] {
  let before: readonly string[] = [];
  return requests.flatMap(({ messages, options: { signal: _, ...options } }) => {
    const lines = [...messages.map(lineOf), `options ${lineOf(options)}`];
    const own = lines.filter((line) => !before.includes(line));
    const order = lines.map((line) => before.indexOf(line)).join(' ');
    before = lines;
    return [`REQUEST (lines of the one before, -1 for a new one: ${order})`, ...own];
  });
}

/** A run of one letter is shown by its length. */
function lineOf(value: unknown): string {
  return JSON.stringify(value).replaceAll(
    /(x|y)\1{99,}/g,
    (run, letter) => `${letter}*${run.length}`,
  );
}

function registry() {
  const failure = (code: string, attempts: number, hint?: string) => ({
    effect: 'read' as const,
    run: () =>
      ({
        success: false as const,
        attempts,
        error: {
          code,
          message: `${code}.`,
          retryable: false,
          ...(hint === undefined ? {} : { hint }),
        },
      }) as never,
  });
  return createFakeToolRegistry({
    read_file: {
      effect: 'read',
      inPlanMode: true,
      run: (args) => ({ success: true, result: { read: args } }),
    },
    told: {
      effect: 'read',
      run: (_, { signal, onProgress: _onProgress, ...context }) => ({
        success: true,
        result: { ...context, aborted: signal.aborted },
      }),
    },
    same: { effect: 'read', run: () => ({ success: true, result: 1, details: { lines: 1 } }) },
    write_file: { effect: 'write', run: () => ({ success: true, result: 'ok' }) },
    strict: failure('INVALID_TOOL_ARGUMENTS', 1, 'Give a path.'),
    large: failure('ARGUMENTS_TOO_LARGE', 0),
    long: { effect: 'read', run: () => ({ success: true, result: 'y'.repeat(131_072) }) },
    throws: {
      effect: 'read',
      run: () => {
        throw new Error('broken tool');
      },
    },
    silent: { effect: 'read', run: () => ({ success: true, result: '', attempts: 1 }) },
    [BEGIN_TOOL_NAME]: {
      effect: 'write',
      run: () => ({ success: true, result: { next: 'content' }, next: 'content' }),
    },
  });
}

import type { LlmEvent, ProtocolStrategy } from '@orion/contracts';
import {
  collect,
  createFakeAdapter,
  createProtocolContext,
  outcomeOf,
  readTool,
  textOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { describe, expect, test } from 'vitest';
import { createContentProtocol } from '../content/content-protocol.ts';
import { createControllerProtocol } from '../controller/controller-protocol.ts';
import { createStandardProtocol } from '../standard/standard-protocol.ts';
import { createTwoStageProtocol } from '../two-stage/two-stage-protocol.ts';
import { runProtocol } from '../testing/run-protocol.ts';

/**
 * Hazard: a provider that refuses ends its message in order. Taken for an answer, the turn is complete and its exit
 * code says so; taken for unusable output, the model is asked again for what it has refused.
 */

const SAID = 'I cannot help with that.';
const REFUSED = 'The model or its provider refused to answer.';

const refusal = (...texts: readonly string[]): LlmEvent[] => [
  ...texts.map((text): LlmEvent => ({ type: 'text-delta', text })),
  { type: 'finish', reason: 'refusal' },
];

const run = (create: () => ProtocolStrategy, replies: readonly FakeReply[], limit?: 0) =>
  runProtocol(
    create(),
    replies,
    { read_file: readTool('abc') },
    {
      config: {
        limits: {
          standard: { maxIterations: limit },
          'two-stage': { maxPhaseCycles: limit },
          controller: { maxControllerTurns: limit },
        },
      },
    },
  );

describe.for([
  ['standard', createStandardProtocol],
  ['two-stage', createTwoStageProtocol],
  ['controller', createControllerProtocol],
] as const)('%s', ([, create]) => {
  test('a refusal ends the turn as incomplete, and a notice and the trace say so (R153)', async () => {
    const { events, outcome, traceService } = await run(create, [refusal(SAID)]);
    expect(outcome).toEqual({
      kind: 'incomplete',
      appended: [{ role: 'assistant', content: SAID }],
    });
    expect(textOf(events)).toBe(SAID);
    expect(textOf(events, 'notice')).toBe(REFUSED);
    expect(traceService.ofType('model_refused')).toMatchObject([
      { phaseIndex: 0, details: { textLength: SAID.length } },
    ]);
  });

  test('a refusal without a word is no answer either (R153)', async () => {
    const { events, outcome } = await run(create, [refusal()]);
    expect(outcome).toEqual({ kind: 'incomplete', appended: [] });
    expect(textOf(events, 'notice')).toBe(`No final answer was produced. ${REFUSED}`);
  });

  test('in the last answer it keeps the reason of the stop (R170)', async () => {
    const { events, outcome } = await run(create, [refusal(SAID)], 0);
    expect(outcome).toMatchObject({ kind: 'incomplete', stopReason: 'ceiling' });
    expect(textOf(events)).toBe(SAID);
    expect(textOf(events, 'notice')).toContain(REFUSED);
  });
});

test.for([
  ['standard', createStandardProtocol],
  ['two-stage', createTwoStageProtocol],
] as const)('%s runs no call of a message that was refused', async ([, create]) => {
  const cut = toolCall('1', 'read_file', '{"pa', 'cut');
  const { outcome, toolRegistry, traceService } = await run(create, [
    [
      { type: 'text-delta', text: 'Let me' },
      { type: 'tool-call-start', index: 0, id: '1', name: 'read_file' },
      { type: 'tool-call-end', index: 0, call: cut },
      { type: 'finish', reason: 'refusal' },
    ],
  ]);
  expect(outcome).toEqual({
    kind: 'incomplete',
    appended: [{ role: 'assistant', content: 'Let me' }],
  });
  expect(toolRegistry.ran).toEqual([]);
  expect(traceService.ofType('tool_call')).toMatchObject([
    { details: { callId: '1', treatment: 'ignored' } },
  ]);
});

test('standard runs no whole call of a message that was refused', async () => {
  const { outcome, toolRegistry } = await run(createStandardProtocol, [
    [
      { type: 'tool-call-end', index: 0, call: toolCall('1', 'read_file', { path: 'a' }) },
      { type: 'finish', reason: 'refusal' },
    ],
  ]);
  expect(outcome.kind).toBe('incomplete');
  expect(toolRegistry.ran).toEqual([]);
});

test('a controller shows no half action of a refusal, and does not do a whole one', async () => {
  for (const text of [
    '{"action":"next_st',
    '{"action":"next_step","thinking":{},"tool":"read_file","args":{}}',
  ]) {
    const { events, outcome, toolRegistry } = await run(createControllerProtocol, [refusal(text)]);
    expect(outcome).toEqual({ kind: 'incomplete', appended: [] });
    expect(textOf(events)).toBe('');
    expect(textOf(events, 'notice')).toBe(`No final answer was produced. ${REFUSED}`);
    expect(toolRegistry.ran).toEqual([]);
  }
});

test('the content stage reports to its driver how the message ended', async () => {
  const adapter = createFakeAdapter([refusal('one line\n', SAID)]);
  const context = createProtocolContext({ adapter });
  const events = await collect(createContentProtocol().executeStreaming(context));
  expect(outcomeOf(events)).toEqual({
    kind: 'message_end',
    finish: 'refusal',
    calls: [],
    appended: [],
  });
});

test('after a cut last answer a notice says so', async () => {
  const { events, outcome } = await run(
    createStandardProtocol,
    [[...textReply('Half an').slice(0, -1), { type: 'finish', reason: 'length' }]],
    0,
  );
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'ceiling' });
  expect(textOf(events, 'notice')).toContain('cut at the output limit');
});

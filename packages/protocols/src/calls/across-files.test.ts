import { BEGIN_TOOL_NAME, createTurnState } from '@orion/contracts';
import type { LlmEvent, Message, ProtocolOutcome, ProtocolStrategy } from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createProtocolContext,
  expectValidHistory,
  outcomeOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import { expect, test } from 'vitest';
import { resolveProtocolConfig } from '../base/config.ts';
import { createControllerProtocol } from '../controller/controller-protocol.ts';
import { createStandardProtocol } from '../standard/standard-protocol.ts';
import { recordCommittedBegin } from './executed-calls.ts';

/**
 * Hazard: a protocol's own limits are counted per run, and a run ends with every file: a model that writes a file in
 * between may then do for ever what would have ended its turn (R160, R200).
 */

const say = (value: object): LlmEvent[] => textReply(JSON.stringify(value));
const step = (tool: string, args: object = {}, more: object = {}): LlmEvent[] =>
  say({ action: 'next_step', thinking: { task: 't' }, tool, args, ...more });
const begin = (file: string): LlmEvent[] => step(BEGIN_TOOL_NAME, { target_file: file });
const done = say({ action: 'complete', message: 'Done.' });

/** The turn driver's loop: each begin is committed, or ends without a change. */
async function turn(
  protocol: ProtocolStrategy,
  replies: readonly (readonly LlmEvent[])[],
  begins: 'committed' | 'aborted' = 'committed',
) {
  const adapter = createFakeAdapter(replies, { structuredOutput: true });
  const turnState = createTurnState();
  const toolRegistry = createFakeToolRegistry({
    read_file: { effect: 'read', run: (args) => ({ success: true, result: { read: args } }) },
    [BEGIN_TOOL_NAME]: {
      effect: 'write',
      run: () => ({ success: true, result: 'begun', next: 'content' }),
    },
  });
  let messages: readonly Message[] = [{ role: 'user', content: 'Go.' }];
  let outcome: ProtocolOutcome;
  for (;;) {
    const context = createProtocolContext({
      messages,
      adapter,
      toolRegistry,
      turnState,
      config: resolveProtocolConfig({ limits: { standard: { maxIterations: 20 } } }),
    });
    outcome = outcomeOf(await collect(protocol.executeStreaming(context)));
    messages = [...messages, ...outcome.appended];
    expectValidHistory(messages);
    if (outcome.kind !== 'handover') break;
    if (begins === 'committed') {
      recordCommittedBegin(turnState, toolRegistry, 'project', outcome.call, 'receipt');
    }
  }
  return { adapter, outcome, turnState, toolRegistry };
}

test('controller: the same failure twice stops, whatever was written in between (R200)', async () => {
  const { adapter, outcome } = await turn(createControllerProtocol(), [
    step('nobody'),
    begin('a.txt'),
    step('nobody'),
    done,
  ]);
  adapter.assertConsumed();
  expect(adapter.requests[3]?.messages.at(-1)?.content).toContain('failed twice');
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'progress' });
});

test('controller: the calls of one step are counted on after a file (R200)', async () => {
  const read = (path: string) => step('read_file', { path }, { description: 'look' });
  const { adapter, outcome, toolRegistry } = await turn(
    createControllerProtocol(),
    [
      ...['1', '2', '3'].map(read),
      step(BEGIN_TOOL_NAME, { target_file: 'a.txt' }, { description: 'look' }),
      ...['4', '5'].map(read),
      done,
    ],
    'aborted',
  );
  adapter.assertConsumed();
  expect(toolRegistry.ran).toHaveLength(5);
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'ceiling' });
});

test('controller: a committed file is given back to its step too (R160)', async () => {
  const files = Array.from({ length: 12 }, (_, index) => begin(`${index}.txt`));
  const { adapter, outcome, turnState } = await turn(createControllerProtocol(), [...files, done]);
  adapter.assertConsumed();
  expect(outcome.kind).toBe('complete');
  expect(turnState.cyclesUsed).toBe(0);
});

test('standard: messages of which no call could be run are counted over the turn (R164)', async () => {
  const broken = callsReply([toolCall('x', 'read_file', '{"pa', 'cut')]);
  const file = callsReply([toolCall('b', BEGIN_TOOL_NAME, { target_file: 'a.txt' })]);
  const { adapter, turnState } = await turn(createStandardProtocol(), [
    broken,
    file,
    broken,
    textReply('Done.'),
  ]);
  adapter.assertConsumed();
  // A file in between is a call that ran: each of the two messages was corrected once.
  expect(turnState.refusedInARow).toBe(1);
});

test('standard: a second run continues the count of the first one (R164)', async () => {
  const adapter = createFakeAdapter([
    callsReply([toolCall('x', 'read_file', '{"pa', 'cut')]),
    textReply('Done.'),
  ]);
  const lastMistake =
    'read_file INVALID_TOOL_ARGUMENTS The arguments were cut off after # characters; the tool was not run.';
  const turnState = { ...createTurnState(), refusedInARow: 1, lastMistake };
  const context = createProtocolContext({ adapter, turnState });
  const outcome = outcomeOf(await collect(createStandardProtocol().executeStreaming(context)));
  adapter.assertConsumed();
  expect(outcome).toMatchObject({ kind: 'stopped', stopReason: 'invalid_output' });
});

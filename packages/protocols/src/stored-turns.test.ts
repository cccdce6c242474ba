import { BEGIN_TOOL_NAME, createTurnState } from '@orion/contracts';
import type {
  LlmEvent,
  Message,
  ProtocolEvent,
  ProtocolStrategy,
  StopReason,
  TurnState,
} from '@orion/contracts';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createFakeTrace,
  createProtocolContext,
  outcomeOf,
  textReply,
  toolCall,
} from '@orion/testkit';
import { expect, test } from 'vitest';
import { resolveProtocolConfig } from './base/config.ts';
import type { ProtocolConfigInput } from './base/config.ts';
import { recordCommittedBegin } from './calls/executed-calls.ts';
import { createControllerProtocol } from './controller/controller-protocol.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';
import { createTwoStageProtocol } from './two-stage/two-stage-protocol.ts';

/**
 * Hazard: another process continues a turn from its stored state, and something that the turn remembers was not
 * stored: it makes the same call again, or does for ever what would have ended it.
 */

type Call = readonly [tool: string, args: object, description?: string];
type Dialect = (call: Call, id: string) => LlmEvent[];

const native: Dialect = ([tool, args], id) => callsReply([toolCall(id, tool, args as never)]);
const actions: Dialect = ([tool, args, description]) =>
  textReply(
    JSON.stringify({ action: 'next_step', thinking: { task: 't' }, tool, args, description }),
  );

type Scene = {
  readonly protocol: () => ProtocolStrategy;
  readonly calls: readonly LlmEvent[][];
  readonly config?: ProtocolConfigInput;
  readonly end: StopReason | 'complete';
};

const look: Call = ['read_file', { path: 'a' }, 'look'];
const begin: Call = [BEGIN_TOOL_NAME, { target_file: 'a.txt' }, 'write'];
const nothing: Call = ['nothing', {}, 'look'];
const as = (dialect: Dialect, ...calls: Call[]): LlmEvent[][] =>
  calls.map((call, index) => dialect(call, `call_${index}`));
const broken = (id: string) => callsReply([toolCall(id, 'read_file', '{"pa', 'cut')]);

/** Each ends by something that was remembered from an earlier run. */
const SCENES: Readonly<Record<string, Scene>> = {
  'standard: duplicates': {
    protocol: createStandardProtocol,
    calls: as(native, begin, look, look, look),
    config: { maxDuplicateAttempts: 2 },
    end: 'duplicates',
  },
  'standard: nothing new': {
    protocol: createStandardProtocol,
    calls: as(native, look, begin, look),
    config: { maxIdleToolPhases: 1 },
    end: 'progress',
  },
  'standard: iterations': {
    protocol: createStandardProtocol,
    calls: as(native, look, begin, nothing),
    config: { limits: { standard: { maxIterations: 2 } } },
    end: 'ceiling',
  },
  'standard: the same mistake': {
    protocol: createStandardProtocol,
    calls: [...as(native, begin), broken('1'), broken('2')],
    end: 'invalid_output',
  },
  'two-stage: cycles': {
    protocol: createTwoStageProtocol,
    calls: as(native, look, begin, nothing, ['read_file', { path: 'b' }]),
    end: 'ceiling',
  },
  'controller: calls of a step': {
    protocol: createControllerProtocol,
    calls: as(actions, look, ['read_file', { path: 'b' }, 'look'], ['read_file', {}, 'look']),
    config: { limits: { controller: { maxToolCallsPerStep: 2 } } },
    end: 'ceiling',
  },
  'controller: the same failure': {
    protocol: createControllerProtocol,
    calls: as(actions, nothing, begin, nothing),
    end: 'progress',
  },
  'controller: an answer': {
    protocol: createControllerProtocol,
    calls: as(actions, look, begin, look),
    end: 'complete',
  },
};

/** A whole turn as its driver plays it: a run ends with every tool phase, and the state goes through `store`. */
async function play(scene: Scene, store: (state: TurnState) => TurnState) {
  const last =
    scene.protocol === createControllerProtocol
      ? '{"action":"complete","message":"Done."}'
      : 'Done.';
  const adapter = createFakeAdapter([...scene.calls, textReply(last)], { structuredOutput: true });
  const traceService = createFakeTrace();
  const toolRegistry = createFakeToolRegistry({
    read_file: { effect: 'read', run: (args) => ({ success: true, result: { read: args } }) },
    [BEGIN_TOOL_NAME]: {
      effect: 'write',
      run: () => ({ success: true, result: 'begun', next: 'content' }),
    },
  });
  const config = resolveProtocolConfig(scene.config);
  const events: ProtocolEvent[] = [];
  let turnState = createTurnState();
  let messages: readonly Message[] = [{ role: 'user', content: 'Go.' }];
  for (;;) {
    const stop = new AbortController();
    const { signal } = stop;
    const run: ProtocolEvent[] = [];
    const context = { messages, adapter, toolRegistry, traceService, turnState, config, signal };
    for await (const event of scene.protocol().executeStreaming(createProtocolContext(context))) {
      run.push(event);
      if (event.type === 'tool_result') stop.abort();
    }
    events.push(...run);
    const outcome = outcomeOf(run);
    messages = [...messages, ...outcome.appended];
    if (outcome.kind === 'handover') {
      recordCommittedBegin(turnState, toolRegistry, 'project', outcome.call, 'receipt');
    } else if (outcome.kind !== 'aborted') {
      adapter.assertConsumed();
      const end = outcome.kind === 'stopped' ? outcome.stopReason : outcome.kind;
      const sent = adapter.requests.map((request) => request.messages);
      const { ran } = toolRegistry;
      return { end, events, sent, messages, ran, recorded: traceService.events, turnState };
    }
    turnState = store(turnState);
  }
}

test.each(Object.entries(SCENES))('%s', async (_name, scene) => {
  const inMemory = await play(scene, (state) => state);
  expect(inMemory.end).toBe(scene.end);
  expect(await play(scene, (state) => JSON.parse(JSON.stringify(state)) as TurnState)).toEqual(
    inMemory,
  );
});

test('the time that a turn has taken is counted on in another process (R251)', async () => {
  const config = resolveProtocolConfig({ budget: { maxSeconds: 60 } });
  const after = async (milliseconds: number) => {
    const context = createProtocolContext({ config, adapter: createFakeAdapter([textReply('a')]) });
    const resumed = { ...context, startedAt: context.clock.monotonic() - milliseconds };
    return outcomeOf(await collect(createStandardProtocol().executeStreaming(resumed)));
  };
  expect((await after(59_999)).kind).toBe('complete');
  expect(await after(60_000)).toMatchObject({ kind: 'stopped', stopReason: 'max_seconds' });
});

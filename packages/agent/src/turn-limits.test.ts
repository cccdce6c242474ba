import type { LlmEvent, ProtocolConfig, ProtocolStrategy, RunEvent } from '@orion/contracts';
import { DEFAULT_PROTOCOL_CONFIG } from '@orion/protocols';
import {
  callsReply,
  collect,
  createFakeAdapter,
  createFakeClock,
  textReply,
  toolCall,
} from '@orion/testkit';
import type { SentRequest } from '@orion/testkit';
import { beforeEach, expect, it } from 'vitest';

import { settingsFromEnvironment } from './config/settings.ts';
import { createOrion } from './create-orion.ts';
import { temporaryDirectory } from './testing/set-up.ts';
import { tool } from './testing/taken-turn.ts';

/** Hazard: a limit that a protocol has, and that nobody can set. */

let workspace: string;
beforeEach(async () => {
  workspace = await temporaryDirectory();
});
/** What a protocol is given under these variables. */
async function configUnder(environment: Record<string, string>): Promise<ProtocolConfig> {
  let given: ProtocolConfig = DEFAULT_PROTOCOL_CONFIG;
  const protocol: ProtocolStrategy = {
    getName: () => 'own',
    canHandle: () => true,
    async *executeStreaming({ config }) {
      given = config;
      yield { type: 'outcome', outcome: { kind: 'complete', appended: [] } };
    },
  };
  const orion = await createOrion({
    workspace,
    store: 'memory',
    adapter: createFakeAdapter([]),
    protocol,
    settings: settingsFromEnvironment(environment),
  });
  await collect(orion.runTurn({ content: 'x' }));
  await orion.close();
  return given;
}

const VARIABLES = {
  MAX_ITERATIONS: '31',
  MAX_PHASE_CYCLES: '32',
  MAX_TOOLS_PER_TOOL_PHASE: '33',
  CONTROLLER_MAX_TURNS: '34',
  CONTROLLER_MAX_CALLS_PER_STEP: '35',
  CONTROLLER_MAX_INVALID: '36',
  MAX_DUPLICATE_ATTEMPTS: '37',
  MAX_IDLE_TOOL_PHASES: '38',
  ORION_STOP_SECONDS: '39',
  ORION_STOP_TOKENS: '40',
  ORION_MAX_TURNS: '41',
  ORION_MAX_SECONDS: '42',
  ORION_MAX_TOKENS: '43',
  ORION_DEBUG_TOOL_RESULTS: 'true',
};

it('R169, R200, R251: each limit of a protocol has a variable of its own', async () => {
  expect(await configUnder(VARIABLES)).toEqual({
    limits: {
      standard: { maxIterations: 31 },
      'two-stage': { maxPhaseCycles: 32, maxToolsPerToolPhase: 33 },
      controller: { maxControllerTurns: 34, maxToolCallsPerStep: 35, maxInvalidOutputs: 36 },
    },
    maxDuplicateAttempts: 37,
    maxIdleToolPhases: 38,
    stopSeconds: 39,
    stopTokens: 40,
    budget: { maxTurns: 41, maxSeconds: 42, maxTokens: 43 },
    debugShowToolResults: true,
  } satisfies Required<Omit<ProtocolConfig, 'temperature' | 'maxTokens'>>);
});

it('R135: without variables a protocol has its defaults', async () => {
  expect(await configUnder({})).toEqual({
    ...DEFAULT_PROTOCOL_CONFIG,
    limits: {
      standard: { maxIterations: 5 },
      'two-stage': { maxPhaseCycles: 3, maxToolsPerToolPhase: 1 },
      controller: { maxControllerTurns: 20, maxToolCallsPerStep: 5, maxInvalidOutputs: 2 },
    },
  });
});

it.each([
  ['0', 1],
  ['7', 8],
])(
  'R169: with MAX_ITERATIONS=%s a model that only calls tools is asked %i times',
  async (text, calls) => {
    const replies = Array.from({ length: calls - 1 }, (_, index) =>
      callsReply([toolCall(`call-${index}`, 'read_file', { path: `${index}.txt` })]),
    );
    const adapter = createFakeAdapter([...replies, textReply('Enough.')]);
    const orion = await createOrion({
      workspace,
      store: 'memory',
      adapter,
      settings: settingsFromEnvironment({ MAX_ITERATIONS: text, MAX_IDLE_TOOL_PHASES: '100' }),
    });
    const events: readonly RunEvent[] = await collect(orion.runTurn({ content: 'x' }));
    await orion.close();
    adapter.assertConsumed();
    expect(events.at(-1)).toMatchObject({ status: 'stopped', stopReason: 'ceiling' });
  },
);

it('R251: the seconds of a turn count from its first run, and that may be a recovery', async () => {
  const clock = createFakeClock();
  const begin = { intent: 'test', target_file: 'a.txt', operation: 'create' };
  const slowly = (milliseconds: number, ...texts: string[]) =>
    async function* (): AsyncGenerator<LlmEvent> {
      for (const text of texts) {
        yield { type: 'text-delta', text };
        await clock.advance(milliseconds);
      }
      yield { type: 'finish', reason: 'stop' };
    };
  const broken: LlmEvent[] = [
    { type: 'text-delta', text: 'one line\n' },
    { type: 'error', error: { code: 'PROVIDER_ERROR', message: 'gone', retryable: false } },
  ];
  const adapter = createFakeAdapter([
    callsReply([toolCall('b', 'WritePlanTool_begin', begin)]),
    broken,
    slowly(40_000, 'one line\nand one more\nDONE'),
    slowly(15_000, 'It is ', 'written', '.'),
    textReply('Hello.'),
  ]);
  const orion = await createOrion({
    workspace,
    store: 'memory',
    adapter,
    clock,
    settings: { maxSeconds: 60, idleMs: 1_000_000 },
  });
  const turn = async (recover?: string): Promise<readonly RunEvent[]> =>
    collect(orion.runTurn({ content: 'x', ...(recover === undefined ? {} : { recover }) }));
  const paused = (await turn()).find((event) => event.type === 'write_session');
  const recovered = await turn(paused?.sessionId);
  expect(recovered.findLast((event) => event.type === 'write_session')).toMatchObject({
    receipt: { bytes: 22 },
  });
  expect(recovered.at(-1)).toMatchObject({ status: 'stopped', stopReason: 'max_seconds' });
  expect((await turn()).at(-1)).toMatchObject({ status: 'complete', fullContent: 'Hello.' });
  await orion.close();
});

it('R251: what a person takes to decide does not count, and ends no question', async () => {
  const clock = createFakeClock();
  const asked: string[] = [];
  const lunch = async (about: string): Promise<void> => {
    asked.push(about);
    await clock.advance(90_000);
  };
  const adapter = createFakeAdapter([
    callsReply([
      toolCall('b', 'WritePlanTool_begin', {
        intent: 'test',
        target_file: '.env',
        operation: 'create',
      }),
    ]),
    textReply('A=1\nDONE\n'),
    callsReply([toolCall('c', 'Run')]),
    textReply('All done.'),
  ]);
  const orion = await createOrion({
    workspace,
    store: 'memory',
    adapter,
    clock,
    settings: { maxSeconds: 60 },
    tools: [
      { ...tool('Run', 'write'), action: () => ({ kind: 'command', command: 'make', folder: '' }) },
    ],
    async confirmProtectedPath(path) {
      await lunch(path);
      return true;
    },
    async approve({ intent }) {
      await lunch(intent);
      return { approved: true };
    },
    async reviewAction(action, signal) {
      await lunch(action.kind);
      return signal.aborted ? { approved: false, reason: 'cut off' } : { approved: true };
    },
  });
  const events = await collect(orion.runTurn({ content: 'x' }));
  await orion.close();
  expect(asked).toEqual(['.env', 'test', 'command']);
  expect(events.at(-1)).toMatchObject({ status: 'complete', fullContent: 'All done.' });
  expect(events.findLast((event) => event.type === 'tool_result')).toMatchObject({ ok: true });
});

it('R169, R251: the wait before a request is repeated is no time of the turn', async () => {
  const clock = createFakeClock();
  const limited = async function* ({ options }: SentRequest): AsyncGenerator<LlmEvent> {
    const { wait = (begin) => begin() } = options;
    for (let retry = 0; retry < 3; retry += 1) await wait(() => clock.advance(60_000));
    yield* callsReply([toolCall('r', 'Look')]);
  };
  const orion = await createOrion({
    workspace,
    store: 'memory',
    adapter: createFakeAdapter([limited, textReply('Done.')]),
    clock,
    settings: { maxSeconds: 100, stopSeconds: 100 },
    tools: [tool('Look', 'read')],
  });
  const events = await collect(orion.runTurn({ content: 'x' }));
  await orion.close();
  expect(events.at(-1)).toMatchObject({ status: 'complete', fullContent: 'Done.' });
});

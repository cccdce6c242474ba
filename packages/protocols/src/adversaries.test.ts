import { createTurnState } from '@orion/contracts';
import type { Message, ProtocolContext, ProtocolEvent, ProtocolStrategy } from '@orion/contracts';
import {
  createFakeClock,
  createFakeToolRegistry,
  createFakeTrace,
  expectValidHistory,
  outcomeOf,
  textOf,
} from '@orion/testkit';
import fastCheck from 'fast-check';
import { expect, test } from 'vitest';
import { resolveProtocolConfig } from './base/config.ts';
import { recordCommittedBegin } from './calls/executed-calls.ts';
import { createControllerProtocol } from './controller/controller-protocol.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';
import { FINAL_GRACE_MS } from './stop-policy/allowance.ts';
import { createAdversary, moves, STEP_MS } from './testing/adversary.ts';
import type { Move } from './testing/adversary.ts';
import { createTwoStageProtocol } from './two-stage/two-stage-protocol.ts';

/**
 * Whole turns against providers with bad intentions, with the turn driver's loop around begin (R137–R140, R169,
 * R170). `npm run fuzz:protocols -- --runs 10000 [--seed n]` takes more of them.
 */
const RUNS = Number(process.env['ORION_FUZZ_RUNS'] ?? 300);
const SEED = process.env['ORION_FUZZ_SEED'];
const STOP_SECONDS = 120;
const STOP_TOKENS = 2000;

type Leaving = { readonly how: 'stays' | 'leaves' | 'aborts'; readonly after: number };

type Case = {
  readonly plan: readonly Move[];
  readonly mode: 'plan' | 'act';
  readonly budget: { readonly maxTurns: number | null; readonly maxSeconds: number | null };
  readonly commits: boolean;
  readonly leaving: Leaving;
};

const cases: fastCheck.Arbitrary<Case> = fastCheck.record({
  plan: moves,
  mode: fastCheck.constantFrom('act', 'act', 'plan'),
  budget: fastCheck.record({
    maxTurns: fastCheck.constantFrom(null, null, 0, 1, 3),
    maxSeconds: fastCheck.constantFrom(null, null, 30),
  }),
  commits: fastCheck.boolean(),
  leaving: fastCheck.record({
    how: fastCheck.constantFrom('stays', 'stays', 'leaves', 'aborts'),
    after: fastCheck.nat({ max: 20 }),
  }),
});

function tools() {
  let changes = 0;
  return createFakeToolRegistry({
    read_file: { effect: 'read', run: (args) => ({ success: true, result: { args } }) },
    pollable: { effect: 'read', pollable: true, run: () => ({ success: true, result: 'same' }) },
    changing: { effect: 'read', run: () => ({ success: true, result: changes++ }) },
    flaky: {
      effect: 'read',
      run: () => ({
        success: false,
        error: { code: 'TOOL_FAILED', message: 'busy', retryable: true },
      }),
    },
    throwing: {
      effect: 'read',
      run: () => {
        throw new Error('a defect of the tool');
      },
    },
    write: { effect: 'write', run: () => ({ success: true, result: 'written' }) },
    begin: { effect: 'write', run: () => ({ success: true, result: 'begun', next: 'content' }) },
  });
}

/** One turn, as its driver runs it: a begin is committed or given up, and the protocol goes on. */
async function playTurn(protocol: ProtocolStrategy, turn: Case) {
  const clock = createFakeClock();
  const adapter = createAdversary(turn.plan, clock);
  const toolRegistry = tools();
  const controller = new AbortController();
  const turnState = createTurnState();
  const given: readonly Message[] = [
    { role: 'system', content: 'You are helpful.' },
    { role: 'user', content: 'Go.' },
  ];
  let messages: readonly Message[] = given;
  const events: ProtocolEvent[] = [];
  let begins = 0;
  let left = false;

  for (let going = true; going;) {
    const context: ProtocolContext = {
      messages,
      mode: turn.mode,
      projectId: 'project',
      requestId: 'request',
      adapter,
      toolRegistry,
      traceService: createFakeTrace(),
      config: resolveProtocolConfig({
        stopSeconds: STOP_SECONDS,
        stopTokens: STOP_TOKENS,
        budget: turn.budget,
      }),
      turnState,
      clock,
      signal: controller.signal,
    };
    const run: ProtocolEvent[] = [];
    for await (const event of protocol.executeStreaming(context)) {
      run.push(event);
      if (run.length <= turn.leaving.after || turn.leaving.how === 'stays') continue;
      if (turn.leaving.how === 'aborts') controller.abort();
      else {
        left = true;
        break;
      }
    }
    events.push(...run);
    if (left) break;
    const outcome = outcomeOf(run);
    messages = [...messages, ...outcome.appended];
    expectValidHistory(messages);
    if (outcome.kind !== 'handover') break;
    begins += 1;
    if (turn.commits) {
      recordCommittedBegin(turnState, toolRegistry, 'project', outcome.call, 'receipt');
    }
    going = begins < 500;
  }
  return { adapter, clock, events, messages, turnState, begins, left, toolRegistry, given };
}

const native = [
  ['standard', createStandardProtocol, 5 + 1],
  // Cycles, refused duplicates, the last answer.
  ['two-stage', createTwoStageProtocol, 3 + 3 + 1],
  ['controller', createControllerProtocol, 20 + 1],
] as const;

test.for(native)(
  '%s ends every turn, whatever the provider does',
  async ([name, create, bound]) => {
    const parameters = {
      numRuns: RUNS,
      ...(SEED === undefined ? {} : { seed: Number(SEED) }),
    };
    await fastCheck.assert(
      fastCheck.asyncProperty(cases, async (turn) => {
        const played = await playTurn(create(), turn);
        const { adapter, clock, events, begins, left, turnState } = played;

        // Nothing is left behind.
        expect(adapter.open()).toBe(0);
        expect(clock.pending()).toBe(0);

        // Calls and time are bounded; a begin that was committed is given back.
        const calls = adapter.requests.length;
        expect(calls).toBeLessThanOrEqual(bound + begins);
        expect(begins).toBeLessThan(500);
        const { maxTurns, maxSeconds } = turn.budget;
        if (maxTurns !== null) expect(calls).toBeLessThanOrEqual(maxTurns);
        const allowed = STOP_SECONDS * 1000 + FINAL_GRACE_MS;
        const seconds = maxSeconds === null ? allowed : Math.min(allowed, maxSeconds * 1000);
        // Both the call that was cut and the last one may notice it a step late.
        expect(clock.monotonic()).toBeLessThanOrEqual(seconds + 2 * STEP_MS);

        // Every request is one that a provider accepts.
        for (const { messages } of adapter.requests) {
          expectValidHistory(messages);
          if (name === 'controller') {
            expect(messages.every((message) => message.role !== 'tool')).toBe(true);
          }
        }

        // What the person read is what the model said.
        if (name !== 'controller') expect(textOf(events)).toBe(adapter.sent.join(''));
        else if (!left) {
          const said = played.messages
            .slice(played.given.length)
            .flatMap((message) =>
              message.role === 'assistant' && message.toolCalls === undefined
                ? [message.content]
                : [],
            );
          expect(textOf(events)).toBe(said.join(''));
        }

        // A stop is told, and it is one that exists.
        const outcome = left
          ? null
          : outcomeOf(events.slice(events.findLastIndex((event) => event.type === 'outcome')));
        if (outcome?.kind === 'stopped') expect(turnState.stop?.reason).toBe(outcome.stopReason);
      }),
      parameters,
    );
  },
);

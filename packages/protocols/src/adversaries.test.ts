import { createTurnState } from '@orion/contracts';
import type {
  LlmEvent,
  Message,
  ProtocolContext,
  ProtocolEvent,
  ProtocolStrategy,
} from '@orion/contracts';
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
import { isUsable } from './base/history.ts';
import type { LlmResultFacts } from './base/protocol-trace.ts';
import { recordCommittedBegin } from './calls/executed-calls.ts';
import { createControllerProtocol } from './controller/controller-protocol.ts';
import { createStandardProtocol } from './standard/standard-protocol.ts';
import { FINAL_GRACE_MS } from './stop-policy/allowance.ts';
import { createContentProtocol } from './content/content-protocol.ts';
import { parseAction } from './controller/action.ts';
import { createAdversary, moves, STEP_MS, takenText, tokensOf } from './testing/adversary.ts';
import type { Move, PlayedRequest } from './testing/adversary.ts';
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
  readonly budget: {
    readonly maxTurns: number | null;
    readonly maxSeconds: number | null;
    readonly maxTokens: number | null;
  };
  readonly commits: boolean;
  readonly leaving: Leaving;
};

const cases: fastCheck.Arbitrary<Case> = fastCheck.record({
  plan: moves,
  mode: fastCheck.constantFrom('act', 'act', 'plan'),
  budget: fastCheck.record({
    maxTurns: fastCheck.constantFrom(null, null, 0, 1, 3),
    maxSeconds: fastCheck.constantFrom(null, null, 30),
    maxTokens: fastCheck.constantFrom(null, null, 0, 20, 1000),
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

/** One turn, as its driver runs it: a begin's file is streamed, committed or given up, and the protocol continues. */
async function playTurn(protocol: ProtocolStrategy, turn: Case) {
  const clock = createFakeClock();
  const adapter = createAdversary(turn.plan, clock);
  const toolRegistry = tools();
  const traceService = createFakeTrace();
  const controller = new AbortController();
  const turnState = createTurnState();
  const given: readonly Message[] = [
    { role: 'system', content: 'You are helpful.' },
    { role: 'user', content: 'Go.' },
  ];
  let messages: readonly Message[] = given;
  const events: ProtocolEvent[] = [];
  const contentEvents: ProtocolEvent[] = [];
  let contentMs = 0;
  let begins = 0;

  /** The outcome of a run; null once the consumer has left. */
  async function play(strategy: ProtocolStrategy, into: ProtocolEvent[]) {
    const context: ProtocolContext = {
      messages,
      mode: turn.mode,
      projectId: 'project',
      requestId: 'request',
      adapter,
      toolRegistry,
      traceService,
      config: resolveProtocolConfig({
        stopSeconds: STOP_SECONDS,
        stopTokens: STOP_TOKENS,
        budget: turn.budget,
      }),
      turnState,
      clock,
      startedAt: 0,
      signal: controller.signal,
    };
    const run: ProtocolEvent[] = [];
    for await (const event of strategy.executeStreaming(context)) {
      run.push(event);
      into.push(event);
      if (run.length <= turn.leaving.after || turn.leaving.how === 'stays') continue;
      if (turn.leaving.how === 'leaves') return null;
      controller.abort();
    }
    return outcomeOf(run);
  }

  let outcome = await play(protocol, events);
  while (outcome !== null) {
    messages = [...messages, ...outcome.appended];
    expectValidHistory(messages);
    if (outcome.kind !== 'handover') break;
    begins += 1;
    if (begins === MOST_BEGINS) break;
    const began = clock.monotonic();
    const streamed = await play(createContentProtocol(protocol), contentEvents);
    contentMs += clock.monotonic() - began;
    if (streamed === null) {
      outcome = null;
      break;
    }
    expect(['message_end', 'error', 'aborted']).toContain(streamed.kind);
    expect(streamed.appended).toEqual([]);
    if (turn.commits && streamed.kind === 'message_end') {
      recordCommittedBegin(turnState, toolRegistry, 'project', outcome.call, 'receipt');
    }
    outcome = await play(protocol, events);
  }
  return {
    adapter,
    clock,
    events,
    contentEvents,
    contentMs,
    messages,
    turnState,
    begins,
    outcome,
    traceService,
    given,
  };
}

const MOST_BEGINS = 500;

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
        const { adapter, clock, events, begins, outcome, turnState } = played;
        const { requests } = adapter;
        const own = requests.filter(({ isContent }) => !isContent);
        const content = requests.filter(({ isContent }) => isContent);

        // Nothing is left behind.
        expect(adapter.open()).toBe(0);
        expect(clock.pending()).toBe(0);

        // Calls and time are bounded; a begin that was committed is given back.
        expect(own.length).toBeLessThanOrEqual(bound + begins);
        expect(content.length).toBeLessThanOrEqual(begins);
        expect(begins).toBeLessThan(MOST_BEGINS);
        const { maxTurns, maxSeconds, maxTokens } = turn.budget;
        if (maxTurns !== null) expect(requests.length).toBeLessThanOrEqual(maxTurns);
        const allowed = STOP_SECONDS * 1000 + FINAL_GRACE_MS;
        // Both the call that was cut and the last one may notice it a step late.
        expect(clock.monotonic() - played.contentMs).toBeLessThanOrEqual(allowed + 2 * STEP_MS);
        if (maxSeconds !== null)
          expect(clock.monotonic()).toBeLessThanOrEqual(maxSeconds * 1000 + 2 * STEP_MS);

        // Every token is spent that the provider counted or that came, and what is used up is not asked for.
        expect(turnState.spent.protocol).toMatchObject({
          calls: own.length,
          tokens: tokensOfAll(own),
        });
        expect(turnState.spent.content).toMatchObject({
          calls: content.length,
          tokens: tokensOfAll(content),
        });
        if (maxTokens !== null && requests.length > 0)
          expect(tokensOfAll(requests.slice(0, -1))).toBeLessThan(maxTokens);
        expect(tokensOfAll(own.slice(0, -2))).toBeLessThan(STOP_TOKENS);

        // Every request is one that a provider accepts.
        for (const { messages } of requests) {
          expectValidHistory(messages);
          if (name === 'controller') {
            expect(messages.every((message) => message.role !== 'tool')).toBe(true);
          }
        }

        // What the person read is what the model said, and a file is what was streamed for it.
        expect(textOf(played.contentEvents)).toBe(takenText(content));
        if (name !== 'controller') expect(textOf(events)).toBe(takenText(own));
        else if (outcome !== null) {
          const said = played.messages
            .slice(played.given.length)
            .flatMap((message) =>
              message.role === 'assistant' && message.toolCalls === undefined
                ? [message.content]
                : [],
            );
          expect(textOf(events)).toBe(said.join(''));
        }

        // An answer that came whole is the answer, whatever it cost; a file that did is a file.
        const answered = own.findIndex((request) => isAnswer(name, request));
        if (answered !== -1 && turn.leaving.how === 'stays') {
          expect(answered).toBe(own.length - 1);
          expect(['complete', 'stopped']).toContain(outcome?.kind);
          if (name === 'controller') expect(textOf(events)).not.toBe('');
        }
        const ended = played.contentEvents.flatMap((event) =>
          event.type === 'outcome' && event.outcome.kind === 'message_end' ? [event] : [],
        );
        if (turn.leaving.how === 'stays')
          expect(ended).toHaveLength(content.filter(isWholeFile).length);

        // Counts that the provider had sent when the message or its calls were complete are reported.
        if (turn.leaving.how === 'stays') {
          const results = played.traceService
            .ofType('llm_result')
            .map(({ details }) => details as LlmResultFacts);
          expect(results).toHaveLength(requests.length);
          for (const [index, { move, saidAll }] of requests.entries()) {
            if (!('tokens' in move) || move.tokens === null) continue;
            const wasThere = move.atOnce && results[index]?.finish === 'enough_calls';
            if (saidAll || wasThere) expect(results[index]?.usage).not.toBeNull();
          }
          const told = [...events, ...played.contentEvents].filter(({ type }) => type === 'usage');
          expect(told).toHaveLength(requests.flatMap(({ taken }) => taken.filter(isUsage)).length);
        }
        // One call at a time: what the model would have said after it is not asked for (R148).
        if (name === 'two-stage') {
          for (const { move, taken, options } of own) {
            // The last answer, which is asked for without tools, is read to its end.
            if (!('atOnce' in move) || move.atOnce || options.tools === undefined) continue;
            expect(taken.filter(isUsableEnd).length).toBeLessThanOrEqual(1);
          }
        }

        // A stop is reported, and it is a known one.
        if (outcome?.kind === 'stopped') expect(turnState.stop?.reason).toBe(outcome.stopReason);
      }),
      parameters,
    );
  },
);

test('a content stage ends with one outcome, whatever the provider does (R158, R160)', async () => {
  await fastCheck.assert(
    fastCheck.asyncProperty(cases, async (turn) => {
      for (const history of [createStandardProtocol(), createControllerProtocol()]) {
        const played = await playTurn(createContentProtocol(history), turn);
        const { adapter, clock, events, outcome, turnState } = played;
        expect(adapter.open()).toBe(0);
        expect(clock.pending()).toBe(0);
        expect(adapter.requests.length).toBeLessThanOrEqual(1);
        expect(textOf(events)).toBe(takenText(adapter.requests));
        expect(turnState.spent.content.tokens).toBe(tokensOfAll(adapter.requests));
        expect(turnState.spent.protocol).toMatchObject({ calls: 0, tokens: 0 });
        const outcomes = events.filter(({ type }) => type === 'outcome');
        expect(outcomes.length).toBeLessThanOrEqual(1);
        if (outcome !== null) expect(outcomes).toEqual(events.slice(-1));
        if (turn.leaving.how === 'stays') {
          const whole = adapter.requests.some(isWholeFile);
          expect(outcome?.kind).toBe(whole ? 'message_end' : 'error');
        }
      }
    }),
    { numRuns: RUNS, ...(SEED === undefined ? {} : { seed: Number(SEED) }) },
  );
});

function tokensOfAll(requests: readonly PlayedRequest[]): number {
  return requests.reduce((sum, request) => sum + tokensOf(request), 0);
}

/** Whether the model gave its answer in this message, all of it. */
function isAnswer(protocol: string, { move, saidAll, taken }: PlayedRequest): boolean {
  if (!saidAll) return false;
  const text = taken.map((event) => (event.type === 'text-delta' ? event.text : '')).join('');
  if (move.kind === 'text' && move.finish !== 'stop') return false;
  if (move.kind === 'calls') return false;
  if (protocol !== 'controller') return /\S/.test(text);
  const parsed = parseAction(text);
  return parsed.ok && parsed.action.kind !== 'tool';
}

function isWholeFile({ taken }: PlayedRequest): boolean {
  return taken.at(-1)?.type === 'finish';
}

function isUsage(event: LlmEvent): boolean {
  return event.type === 'usage';
}

function isUsableEnd(event: LlmEvent): boolean {
  return event.type === 'tool-call-end' && isUsable(event.call);
}

import { BEGIN_TOOL_NAME, createTurnState } from '@orion/contracts';
import type { ProtocolConfig, TurnState } from '@orion/contracts';
import { createFakeClock, createFakeToolRegistry, readTool, toolCall } from '@orion/testkit';
import { describe, expect, test } from 'vitest';

import { resolveProtocolConfig } from '../base/config.ts';
import { recordCommittedBegin } from '../calls/executed-calls.ts';
import { allowanceOf } from './allowance.ts';
import { findBudgetStop, findPolicyStop, findStop, mayAnswer } from './verdict.ts';
import type { LimitedTurn } from './verdict.ts';

const config = resolveProtocolConfig({
  budget: { maxTurns: 3, maxSeconds: 4, maxTokens: 500 },
  stopSeconds: 3,
  stopTokens: 400,
  maxDuplicateAttempts: 2,
  maxIdleToolPhases: 2,
});
const unlimited = resolveProtocolConfig({ stopSeconds: 3, stopTokens: 400 });

type Spent = Partial<TurnState['spent']['protocol']>;

function stateOf(protocol: Spent, content: Spent = {}, more: Partial<TurnState> = {}): TurnState {
  const state = createTurnState();
  Object.assign(state.spent.protocol, protocol);
  Object.assign(state.spent.content, content);
  return Object.assign(state, more);
}

/** The turn at a time of the clock; it has begun at 1,000. */
function at(now: number, turnState: TurnState, limits: ProtocolConfig): LimitedTurn {
  const clock = { ...createFakeClock(), monotonic: () => now };
  return { turnState, config: limits, clock, startedAt: 1_000 };
}

const turns = { reason: 'max_turns', limit: 'maxTurns', value: 3 };
const seconds = { reason: 'max_seconds', limit: 'maxSeconds', value: 4 };
const tokens = { reason: 'max_tokens', limit: 'maxTokens', value: 500 };

describe('budgets (R251)', () => {
  test.each([
    [stateOf({ calls: 1 }, { calls: 1 }), 1_000, null],
    [stateOf({ calls: 1 }, { calls: 2 }), 1_000, turns],
    [stateOf({}), 4_999, null],
    [stateOf({}), 5_000, seconds],
    [stateOf({ tokens: 200 }, { tokens: 299 }), 1_000, null],
    [stateOf({ tokens: 200 }, { tokens: 300 }), 1_000, tokens],
    // The first in rank is reported.
    [stateOf({ calls: 3, tokens: 500 }), 5_000, turns],
    [stateOf({ tokens: 500 }), 5_000, seconds],
  ])('%#', (state, now, stop) => {
    expect(findBudgetStop(at(now, state, config))).toEqual(stop);
    expect(findStop(at(now, state, { ...config, stopTokens: 10_000 }))).toEqual(stop);
    expect(findBudgetStop(at(now, state, unlimited))).toBeNull();
  });

  test('nothing more is asked after one, nor beyond one', () => {
    const policy = { reason: 'tokens', limit: 'stopTokens', value: 400 } as const;
    expect(mayAnswer(policy, at(1_000, stateOf({}), config))).toBe(true);
    expect(mayAnswer(policy, at(1_000, stateOf({ calls: 3 }), config))).toBe(false);
    // The provider may have counted less than was estimated when the call was cut.
    for (const { reason } of [turns, seconds, tokens]) {
      const stop = { ...policy, reason } as never;
      expect(mayAnswer(stop, at(1_000, stateOf({}), config)), reason).toBe(false);
    }
  });
});

describe('the shared policy (R169)', () => {
  const progress = (idlePhases: number): Partial<TurnState> => ({
    progress: { ...createTurnState().progress, idlePhases },
  });
  const idle = { reason: 'progress', limit: 'maxIdleToolPhases', value: 2 };
  const duplicates = { reason: 'duplicates', limit: 'maxDuplicateAttempts', value: 2 };
  const time = { reason: 'time', limit: 'stopSeconds', value: 3 };
  test.each([
    [stateOf({}), null],
    [stateOf({}, {}, { duplicates: 1 }), null],
    [stateOf({}, {}, { duplicates: 2 }), duplicates],
    [stateOf({}, {}, progress(1)), null],
    [stateOf({}, {}, progress(2)), idle],
    [stateOf({ milliseconds: 2_999 }, { milliseconds: 9_000 }), null],
    [stateOf({ milliseconds: 3_000 }), time],
    [stateOf({ tokens: 399 }, { tokens: 90 }), null],
    [stateOf({ tokens: 400 }), { reason: 'tokens', limit: 'stopTokens', value: 400 }],
    [stateOf({ milliseconds: 3_000, tokens: 400 }), time],
    [stateOf({ milliseconds: 3_000 }, {}, { duplicates: 2, ...progress(2) }), duplicates],
    [stateOf({ milliseconds: 3_000 }, {}, progress(2)), idle],
  ])('%#', (state, stop) => {
    expect(findPolicyStop(state, config)).toEqual(stop);
    expect(findStop(at(1_000, state, config))).toEqual(stop);
  });

  test('a limit of 0 wants something to have happened', () => {
    const none = { ...config, maxDuplicateAttempts: 0, maxIdleToolPhases: 0 };
    expect(findPolicyStop(stateOf({}), none)).toBeNull();
    expect(findPolicyStop(stateOf({}, {}, { duplicates: 1 }), none)).toMatchObject({ value: 1 });
    expect(findPolicyStop(stateOf({}, {}, progress(1)), none)).toMatchObject({ value: 1 });
  });
});

describe('what the next call may take', () => {
  const policyTime = { reason: 'time', limit: 'stopSeconds', value: 3 };
  const policyTokens = { reason: 'tokens', limit: 'stopTokens', value: 400 };
  const spent = stateOf({ milliseconds: 1_000, tokens: 100 }, { tokens: 50 });
  test.each([
    ['answer', unlimited, 2_000, policyTime, 300, policyTokens],
    ['final', unlimited, 10_000, policyTime, 4_096, policyTokens],
    ['content', unlimited, Infinity, policyTime, Infinity, policyTokens],
    // One second has passed since the turn began, of four.
    ['answer', config, 2_000, policyTime, 300, policyTokens],
    ['final', config, 3_000, seconds, 350, tokens],
    ['content', config, 3_000, seconds, 350, tokens],
  ] as const)('%s %#', (purpose, limits, milliseconds, onTime, left, onTokens) => {
    expect(allowanceOf(at(2_000, spent, limits), purpose)).toEqual({
      milliseconds,
      onTime,
      tokens: left,
      onTokens,
    });
  });

  test('never less than nothing; the budget is named where both end at once', () => {
    const over = stateOf({ milliseconds: 4_000, tokens: 450 }, { tokens: 100 });
    expect(allowanceOf(at(6_000, over, config), 'answer')).toEqual({
      milliseconds: 0,
      onTime: seconds,
      tokens: 0,
      onTokens: tokens,
    });
    const same = stateOf({ milliseconds: 1_000, tokens: 0 }, { tokens: 100 });
    expect(allowanceOf(at(3_000, same, config), 'answer')).toMatchObject({
      milliseconds: 2_000,
      onTime: seconds,
      tokens: 400,
      onTokens: tokens,
    });
  });
});

test('a committed begin is given back what it used (R160)', () => {
  const registry = createFakeToolRegistry({
    [BEGIN_TOOL_NAME]: { effect: 'write', run: () => ({}) },
    read_file: readTool(1),
  });
  const call = toolCall('b', BEGIN_TOOL_NAME, { target_file: 'a' });
  const after = (used: number) => {
    const state = stateOf({}, {}, { iterations: used, cyclesUsed: used });
    recordCommittedBegin(state, registry, 'project', call, { committed: true });
    return state;
  };
  const state = after(2);
  expect([state.iterations, state.cyclesUsed]).toEqual([1, 1]);
  const first = after(0);
  expect([first.iterations, first.cyclesUsed]).toEqual([0, 0]);
  expect(Object.entries(state.executed)).toEqual([
    [
      registry.signatureOf(call, 'project'),
      {
        toolCallId: 'b',
        toolName: BEGIN_TOOL_NAME,
        success: true,
        result: { committed: true },
        details: {},
        attempts: 1,
      },
    ],
  ]);
});

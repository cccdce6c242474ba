import { createTurnState } from '@orion/contracts';
import { expect, it } from 'vitest';

import { DEFAULT_PROTOCOL_CONFIG } from '../base/config.ts';
import { limitUse } from './limit-use.ts';

const state = {
  ...createTurnState(),
  duplicates: 1,
  progress: { idlePhases: 2, lastSignature: null, seen: {} },
  spent: {
    protocol: { calls: 3, milliseconds: 4500, tokens: 50 },
    content: { calls: 1, milliseconds: 9000, tokens: 900 },
  },
};

it('counts a file against the budget only, and leaves out what has no limit', () => {
  const limits = {
    maxDuplicateAttempts: 3,
    maxIdleToolPhases: 2,
    stopSeconds: 120,
    stopTokens: 32_768,
  };
  const config = { ...DEFAULT_PROTOCOL_CONFIG, ...limits };
  const policy = [
    { limit: 'maxDuplicateAttempts', used: 1, most: 3 },
    { limit: 'maxIdleToolPhases', used: 2, most: 2 },
    { limit: 'stopSeconds', used: 4.5, most: 120 },
    { limit: 'stopTokens', used: 50, most: 32_768 },
  ];
  const none = { maxTurns: null, maxSeconds: null, maxTokens: null };
  expect(limitUse(state, { ...config, budget: none }, 20_000)).toEqual(policy);
  const budget = { maxTurns: 10, maxSeconds: 60, maxTokens: 1000 };
  expect(limitUse(state, { ...config, budget }, 20_000)).toEqual([
    { limit: 'maxTurns', used: 4, most: 10 },
    { limit: 'maxSeconds', used: 20, most: 60 },
    { limit: 'maxTokens', used: 950, most: 1000 },
    ...policy,
  ]);
});

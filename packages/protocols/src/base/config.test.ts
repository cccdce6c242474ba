import { expect, test } from 'vitest';
import { resolveProtocolConfig } from './config.ts';

test('undefined is the default and 0 is 0 (R135)', () => {
  expect(resolveProtocolConfig()).toEqual({
    maxIterations: 5,
    maxPhaseCycles: 3,
    maxToolsPerToolPhase: 1,
    maxControllerTurns: 20,
    maxToolCallsPerStep: 5,
    maxInvalidOutputs: 2,
    maxDuplicateAttempts: 3,
    maxIdleToolPhases: 2,
    stopSeconds: 120,
    stopTokens: 32_768,
    budget: { maxTurns: null, maxSeconds: null, maxTokens: null },
    debugShowToolResults: false,
  });
  expect(
    resolveProtocolConfig({
      maxIterations: 0,
      maxPhaseCycles: 0,
      maxDuplicateAttempts: 0,
      maxToolsPerToolPhase: undefined,
      temperature: 0,
      maxTokens: undefined,
      budget: { maxTurns: 0, maxTokens: undefined },
    }),
  ).toEqual({
    ...resolveProtocolConfig(),
    maxIterations: 0,
    maxPhaseCycles: 0,
    maxDuplicateAttempts: 0,
    maxToolsPerToolPhase: 1,
    budget: { maxTurns: 0, maxSeconds: null, maxTokens: null },
    temperature: 0,
  });
});

test('a limit that is none is refused by its name (R135)', () => {
  const limits = [
    'maxIterations',
    'maxPhaseCycles',
    'maxDuplicateAttempts',
    'maxToolsPerToolPhase',
    'maxIdleToolPhases',
    'stopSeconds',
    'stopTokens',
    'maxTokens',
  ] as const;
  for (const name of limits) {
    for (const value of [-1, Number.NaN, Infinity, 1.5, '3', null]) {
      expect(() => resolveProtocolConfig({ [name]: value as number })).toThrow(name);
    }
  }
  expect(() => resolveProtocolConfig({ budget: { maxTurns: -1 } })).toThrow('maxTurns');
  expect(() => resolveProtocolConfig({ budget: 3 as never })).toThrow('budget');
  expect(() => resolveProtocolConfig({ maxTokens: 0 })).toThrow('maxTokens');
  expect(() => resolveProtocolConfig({ temperature: -0.1 })).toThrow('temperature');
  expect(() => resolveProtocolConfig({ debugShowToolResults: 'yes' as never })).toThrow(
    'debugShowToolResults',
  );
});

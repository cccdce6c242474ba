import { expect, test } from 'vitest';
import { resolveProtocolConfig } from './config.ts';

test('undefined is the default and 0 is 0 (R135)', () => {
  expect(resolveProtocolConfig()).toEqual({
    limits: {},
    maxDuplicateAttempts: 3,
    maxIdleToolPhases: 2,
    stopSeconds: 120,
    stopTokens: 32_768,
    budget: { maxTurns: null, maxSeconds: null, maxTokens: null },
    debugShowToolResults: false,
  });
  expect(
    resolveProtocolConfig({
      limits: { standard: { maxIterations: 0 }, controller: undefined },
      maxDuplicateAttempts: 0,
      maxIdleToolPhases: undefined,
      temperature: 0,
      maxTokens: undefined,
      budget: { maxTurns: 0, maxTokens: undefined },
    }),
  ).toEqual({
    ...resolveProtocolConfig(),
    limits: { standard: { maxIterations: 0 }, controller: undefined },
    maxDuplicateAttempts: 0,
    budget: { maxTurns: 0, maxSeconds: null, maxTokens: null },
    temperature: 0,
  });
});

test('a limit that is none is refused by its name (R135)', () => {
  const refused = (input: object, message: string): void => {
    expect(() => resolveProtocolConfig(input)).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message }),
    );
  };
  const limits = ['maxDuplicateAttempts', 'maxIdleToolPhases', 'stopSeconds', 'stopTokens'];
  const broken = [-1, Number.NaN, Infinity, 1.5, '3', null];
  for (const value of broken) {
    for (const name of limits) {
      refused({ [name]: value }, `${name} must be a whole number, 0 or more`);
    }
    refused(
      { limits: { 'one-look': { maxLooks: value } } },
      'maxLooks must be a whole number, 0 or more',
    );
    refused({ maxTokens: value }, 'maxTokens must be a whole number, 1 or more');
  }
  for (const name of ['maxTurns', 'maxSeconds', 'maxTokens']) {
    refused({ budget: { [name]: -1 } }, `${name} must be a whole number, 0 or more`);
  }
  for (const none of [3, null, 'x']) {
    refused({ budget: none }, 'budget must be an object');
    refused({ limits: none }, 'limits must be an object');
    refused({ limits: { standard: none } }, 'limits.standard must be an object');
  }
  refused({ maxTokens: 0 }, 'maxTokens must be a whole number, 1 or more');
  for (const temperature of [-0.1, Number.NaN, '1']) {
    refused({ temperature }, 'temperature must be a number, 0 or more');
  }
  refused({ debugShowToolResults: 'yes' }, 'debugShowToolResults must be true or false');
});

test('what is given is taken', () => {
  const budget = { maxTurns: 1, maxSeconds: 2, maxTokens: 3 };
  const input = { budget, debugShowToolResults: true, temperature: 1, maxTokens: 1, stopTokens: 9 };
  expect(resolveProtocolConfig(input)).toEqual({ ...resolveProtocolConfig(), ...input });
});

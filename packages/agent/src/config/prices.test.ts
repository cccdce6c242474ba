import { describe, expect, it } from 'vitest';

import { costOf } from './prices.ts';
import { settingFromFile, settingsFromEnvironment } from './settings.ts';

const usage = { inputTokens: 1000, cachedTokens: 400, outputTokens: 200, reasoningTokens: 150 };

describe('what was used costs', () => {
  it.each([
    // 600 + 400 of input, 200 of output.
    [{ input: 10, cached: 1, output: 100 }, 0.0264],
    [{ input: 10, output: 100 }, 0.03],
    [{ input: 0, output: 0 }, 0],
    [undefined, null],
  ])('with %j: %d', (price, cost) => {
    expect(costOf(usage, price)).toEqual(cost === null ? null : expect.closeTo(cost, 10));
  });

  it('what the provider says, whatever the price', () => {
    expect(costOf({ ...usage, cost: 0.5 }, { input: 1, output: 1 })).toBe(0.5);
    expect(costOf({ ...usage, cost: 0 }, undefined)).toBe(0);
  });

  it('no less than nothing, where more is cached than was read', () => {
    const odd = { ...usage, inputTokens: 100, cachedTokens: 400, outputTokens: 0 };
    expect(costOf(odd, { input: 10, cached: 1, output: 1 })).toBeCloseTo(0.0001, 10);
  });
});

describe('prices', () => {
  const prices = {
    'gpt-5': { input: 1.25, cached: 0.125, output: 10 },
    local: { input: 0, output: 0 },
  };

  it('are read from a file and from the environment', () => {
    expect(settingFromFile('prices', prices, 'config.json')).toEqual({ prices });
    expect(settingsFromEnvironment({ ORION_PRICES: JSON.stringify(prices) })).toEqual({ prices });
  });

  it.each([
    [[]],
    ['cheap'],
    [{ 'gpt-5': 1 }],
    [{ 'gpt-5': { input: 1 } }],
    [{ 'gpt-5': { input: 1, output: -1 } }],
    [{ 'gpt-5': { input: 1, output: '1' } }],
    [{ 'gpt-5': { input: 1, output: 1, cached: null } }],
    [{ 'gpt-5': { input: 1, output: 1, reasoning: 1 } }],
  ])('%j is none: the person is told what it has to be', (given) => {
    expect(() => settingFromFile('prices', given, 'config.json')).toThrow(
      /config\.json: prices is .* must be an object such as/u,
    );
  });

  it('are not read from text that is no JSON', () => {
    expect(() => settingsFromEnvironment({ ORION_PRICES: '{' })).toThrow(/ORION_PRICES/u);
  });
});

import { describe, expect, test } from 'vitest';

import { readRefusal, withoutRefused } from './refused-parameters.ts';
import type { Remedy } from './refused-parameters.ts';

const REQUEST = {
  model: 'm',
  config: { temperature: 1, limits: { tokens: 5 } },
  max_tokens: 7,
};
const OPTIONAL = {
  paths: ['config.limits.tokens', 'config.temperature', 'max_tokens', 'absent.deep'],
  otherNames: new Map([
    ['config.limits.tokens', 'config.limits.max_tokens'],
    ['config.limits.max_tokens', 'config.limits.tokens'],
  ]),
};
const refusal = (message: string, parameter?: string, status = 400) =>
  readRefusal({ status, message, parameter }, REQUEST, OPTIONAL);
const without = (refusals: Readonly<Record<string, Remedy>>) =>
  withoutRefused(REQUEST, new Map(Object.entries(refusals)), OPTIONAL);

describe('a refused parameter', () => {
  test.for([
    ['no', 'config.temperature', 'config.temperature'],
    ['Unknown field config.limits.tokens here', undefined, 'config.limits.tokens'],
    ['Unknown name "temperature" at \'config\'', undefined, 'config.temperature'],
    // Of two that are mentioned the whole path says more than its last name.
    ['tokens: use config.temperature', undefined, 'config.temperature'],
    ['my_temperature is low', undefined, undefined],
    ['deep', 'absent.deep', undefined],
  ] as const)('is found by its path: %s, %s', ([message, parameter, expected]) => {
    expect(refusal(message, parameter)?.parameter).toBe(expected);
  });

  test('is only read from a status that refuses a request', () => {
    expect(refusal('temperature', undefined, 422)?.parameter).toBe('config.temperature');
    expect(refusal('temperature', undefined, 500)).toBeUndefined();
  });

  test('with another name is swapped when its name is unknown, not when its value is wrong', () => {
    expect(refusal('config.limits.tokens is not supported')?.remedy).toBe('swap');
    expect(refusal('config.limits.tokens is too large')?.remedy).toBe('leave-out');
    expect(refusal('config.temperature is not supported')?.remedy).toBe('leave-out');
  });

  test('leaves the request at its place, and with it an object that is empty then', () => {
    expect(without({ 'config.temperature': 'leave-out' })).toEqual({
      model: 'm',
      config: { limits: { tokens: 5 } },
      max_tokens: 7,
    });
    expect(
      without({ 'config.limits.tokens': 'leave-out', 'config.temperature': 'leave-out' }),
    ).toEqual({
      model: 'm',
      max_tokens: 7,
    });
    expect(without({ 'model.name': 'leave-out', 'absent.deep': 'leave-out' })).toEqual(REQUEST);
    expect(REQUEST.config).toEqual({ temperature: 1, limits: { tokens: 5 } });
  });

  test('takes its other name at the same place, unless that was refused too', () => {
    expect(without({ 'config.limits.tokens': 'swap' }).config).toEqual({
      temperature: 1,
      limits: { max_tokens: 5 },
    });
    const both = { 'config.limits.tokens': 'swap', 'config.limits.max_tokens': 'swap' } as const;
    expect(without(both).config).toEqual({ temperature: 1 });
  });
});

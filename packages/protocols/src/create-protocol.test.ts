import { OrionError } from '@orion/contracts';
import { createProtocolContext } from '@orion/testkit';
import { expect, test } from 'vitest';
import { BaseProtocol } from './base/base-protocol.ts';
import { PROTOCOL_NAMES, createProtocol, normaliseProtocolName } from './create-protocol.ts';

test('both spellings of two-stage are one name (R264)', () => {
  expect(normaliseProtocolName('two_stage')).toBe('two-stage');
  expect(normaliseProtocolName('two-stage')).toBe('two-stage');
});

test('makes what is there and refuses the rest by naming what is there (R133)', () => {
  expect(createProtocol('two_stage').getName()).toBe('two-stage');
  expect(createProtocol('controller').getName()).toBe('controller');
  expect(PROTOCOL_NAMES).toEqual(['standard', 'two-stage', 'controller']);
  const protocol = createProtocol('standard');
  expect(protocol.getName()).toBe('standard');
  expect(protocol.canHandle(createProtocolContext())).toBe(true);
  for (const name of ['content', 'Standard', '', 'constructor', 'nonsense']) {
    const error = thrownBy(() => createProtocol(name));
    expect(error).toMatchObject({
      code: 'PROTOCOL_UNSUPPORTED',
      message: `There is no protocol ${JSON.stringify(name)}; available: standard, two-stage, controller`,
      hint: 'Choose one of: standard, two-stage, controller.',
    });
  }
});

test('a base method that a protocol lacks says so (R132)', () => {
  const base = new BaseProtocol();
  const context = createProtocolContext();
  expect(() => base.getName()).toThrow('must be implemented');
  expect(() => base.canHandle(context)).toThrow('must be implemented');
  expect(() => base.executeStreaming(context)).toThrow('must be implemented');
});

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    expect(OrionError.isInstance(error)).toBe(true);
    return error;
  }
  throw new Error('It did not throw');
}

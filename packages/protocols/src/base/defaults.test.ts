import {
  collect,
  createFakeAdapter,
  createFakeToolRegistry,
  createFakeTrace,
  createProtocolContext,
  outcomeOf,
  textOf,
  textReply,
} from '@orion/testkit';
import { expect, test } from 'vitest';
import { createStandardProtocol } from '../standard/standard-protocol.ts';

const madeWith = () => ({
  adapter: createFakeAdapter([textReply('of the protocol')]),
  toolRegistry: createFakeToolRegistry({}),
  traceService: createFakeTrace(),
});

test('a protocol may be made with what contexts leave out (R134)', async () => {
  const { adapter: _a, toolRegistry: _t, traceService: _s, ...context } = createProtocolContext();
  const defaults = madeWith();
  const events = await collect(createStandardProtocol(defaults).executeStreaming(context));
  expect(outcomeOf(events).kind).toBe('complete');
  expect(textOf(events)).toBe('of the protocol');
  expect(defaults.traceService.ofType('llm_call')).toHaveLength(1);
});

test('what the context names wins', async () => {
  const defaults = madeWith();
  const adapter = createFakeAdapter([textReply('of the context')]);
  const events = await collect(
    createStandardProtocol(defaults).executeStreaming(createProtocolContext({ adapter })),
  );
  expect(textOf(events)).toBe('of the context');
  expect(defaults.adapter.requests).toEqual([]);
});

test('what neither names is missing', () => {
  const { adapter: _a, ...context } = createProtocolContext();
  expect(() => createStandardProtocol().executeStreaming(context)).toThrow(/adapter/);
});

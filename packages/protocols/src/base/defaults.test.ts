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
import { validateContext } from './context.ts';

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

test('a context is refused by what it lacks (R134)', () => {
  const context = createProtocolContext();
  const refused = (given: unknown, message: string): void => {
    expect(() => validateContext(given as typeof context)).toThrow(
      new Error(`Protocol context: ${message}`),
    );
  };
  expect(() => validateContext(context)).not.toThrow();
  for (const none of [undefined, null, 'text']) refused(none, 'an object is needed');
  refused({ ...context, messages: {} }, 'messages is missing (an array of messages is needed)');
  for (const name of ['projectId', 'requestId']) {
    for (const value of ['', 3]) {
      const message = `${name} is missing (a text that is not empty is needed)`;
      refused({ ...context, [name]: value }, message);
    }
  }
  refused({ ...context, mode: 'dream' }, 'unknown mode "dream"; known: plan, act');
  refused({ ...context, mode: 1 }, 'unknown mode 1; known: plan, act');
  const parts = {
    adapter: ['sendMessagesStreaming'],
    toolRegistry: ['definitions', 'executeToolCalls', 'signatureOf', 'summarize', 'traitsOf'],
    traceService: ['record'],
    config: [],
    turnState: [],
    clock: ['monotonic', 'schedule'],
    signal: ['addEventListener'],
  };
  for (const [name, methods] of Object.entries(parts)) {
    for (const none of [null, 'text']) {
      refused({ ...context, [name]: none }, `${name} is missing (an object is needed)`);
    }
    for (const method of methods) {
      const others = methods.filter((other) => other !== method);
      const part = Object.fromEntries(others.map((other) => [other, () => undefined]));
      refused({ ...context, [name]: part }, `${name}.${method} is missing`);
    }
  }
});

import { expect, test } from 'vitest';
import { createFakeAdapter, textReply } from './fake-adapter.ts';
import { collect } from './protocol-context.ts';

test('an unexpected call fails at once and in the final check', async () => {
  const adapter = createFakeAdapter([textReply('a')]);
  await collect(adapter.sendMessagesStreaming([], {}));
  adapter.assertConsumed();
  expect(() => adapter.sendMessagesStreaming([], {})).toThrow('Unexpected model call number 2');
  expect(() => {
    adapter.assertConsumed();
  }).toThrow('1 model calls were not expected');
});

test('a reply that nobody asked for fails the final check', () => {
  const adapter = createFakeAdapter([textReply('a')]);
  expect(() => {
    adapter.assertConsumed();
  }).toThrow('1 replies were not asked for');
});

test('knows which streams are still open, and keeps requests as they were', async () => {
  const adapter = createFakeAdapter([textReply('a', 'b')]);
  const messages = [{ role: 'user' as const, content: 'Hello' }];
  const stream = adapter.sendMessagesStreaming(messages, {})[Symbol.asyncIterator]();
  await stream.next();
  messages.pop();
  expect([adapter.open(), adapter.requests[0]?.messages.length]).toEqual([1, 1]);
  await stream.return?.();
  expect(adapter.open()).toBe(0);
});

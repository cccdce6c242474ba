// A process that has too much to do knows it, and knows when that is over: with the real event loop, which is blocked.
import { textReply } from '@orion/testkit';
import type { FakeReply } from '@orion/testkit';
import { createFakeAdapter } from '@orion/testkit';
import { expect, it, onTestFinished, vi } from 'vitest';

import { startTestServer } from '../testing/test-server.ts';
import { watchEventLoop } from './event-loop-delay.ts';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function block(times: number): Promise<void> {
  for (let each = 0; each < times; each += 1) {
    const end = performance.now() + 150;
    while (performance.now() < end);
    await pause(25);
  }
}

/** The windows pass at once; what is measured in them is real. */
function passWindow(): void {
  vi.advanceTimersByTime(5_000);
}

function fakeWindows(): void {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
}

it('is the worst of what happens more than once in a hundred times, and is forgotten', async () => {
  fakeWindows();
  const { p99Ms, close } = watchEventLoop();
  onTestFinished(close);
  await block(3);
  expect(p99Ms()).toBe(0);
  passWindow();
  expect(p99Ms()).toBeGreaterThan(100);
  expect(p99Ms()).toBeLessThan(1_000);
  passWindow();
  await expect
    .poll(
      () => {
        passWindow();
        passWindow();
        return pause(100).then(p99Ms);
      },
      { timeout: 10_000 },
    )
    .toBeLessThan(50);
});

it('keeps a server from beginning a second turn, until it is over', async () => {
  fakeWindows();
  const gate = Promise.withResolvers<void>();
  const reply: FakeReply = async function* () {
    await gate.promise;
    yield* textReply('said');
  };
  const adapter = createFakeAdapter([reply, reply]);
  const { ask } = await startTestServer({}, { adapter });
  const begin = (conversationId: string) =>
    ask('/api/chat/messages', {
      json: { content: 'q', conversationId },
      headers: { accept: 'application/json' },
    });
  await block(3);
  passWindow();
  await begin('a');
  await begin('b');
  await expect.poll(() => adapter.requests.length).toBe(1);
  await pause(300);
  expect(adapter.requests).toHaveLength(1);
  await expect
    .poll(
      () => {
        passWindow();
        passWindow();
        return pause(100).then(() => adapter.requests.length);
      },
      { timeout: 10_000 },
    )
    .toBe(2);
  gate.resolve();
});

import type { Tool } from '@orion/contracts';
import { createFakeClock, toolCall } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createToolRegistry } from './tool-registry.ts';
import { CONTEXT } from '../testing/context.ts';

function setUp(effect: Tool['effect'], timeoutMs?: number) {
  const clock = createFakeClock();
  let end = (): void => undefined;
  const signals: AbortSignal[] = [];
  const tool: Tool = {
    definition: { name: 'slow', description: 'slow', parameters: { type: 'object' } },
    effect,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    execute: (_args, { signal }) => {
      signals.push(signal);
      return new Promise((resolve) => {
        end = () => resolve({ result: 'at last' });
      });
    },
  };
  const registry = createToolRegistry([tool], { clock });
  const running = registry.executeToolCalls([toolCall('1', 'slow')], CONTEXT);
  return { clock, running, signals, end: () => end() };
}

test('a read tool is left after 120 s, with its signal aborted and no retry (R200)', async () => {
  const { clock, running, signals } = setUp('read');
  await clock.advance(119_999);
  expect(signals[0]?.aborted).toBe(false);
  await clock.advance(1);
  const [result] = await running;
  expect(result).toMatchObject({
    success: false,
    attempts: 1,
    error: { code: 'TOOL_FAILED', message: expect.stringContaining('120 s') },
  });
  expect(signals.map((signal) => signal.aborted)).toEqual([true]);
  expect(clock.pending()).toBe(0);
});

test('a tool may name its own limit', async () => {
  const { clock, running } = setUp('read', 500);
  await clock.advance(500);
  const [result] = await running;
  expect(result).toMatchObject({ error: { message: expect.stringContaining('0.5 s') } });
});

test('a write tool is aborted and waited for: its effect must be known', async () => {
  const { clock, running, signals, end } = setUp('write');
  await clock.advance(120_000);
  expect(signals[0]?.aborted).toBe(true);
  end();
  const [result] = await running;
  expect(result).toMatchObject({ success: true, result: 'at last' });
});

test('a tool that ends in time leaves no timer', async () => {
  const { clock, running, end } = setUp('read');
  await clock.advance(1);
  end();
  await running;
  expect(clock.pending()).toBe(0);
});

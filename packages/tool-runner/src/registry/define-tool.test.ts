import type { JsonObject } from '@orion/contracts';
import { createFakeClock, toolCall } from '@orion/testkit';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolSpecification } from './define-tool.ts';
import { createToolRegistry } from './tool-registry.ts';
import { CONTEXT } from '../testing/context.ts';

const schema = z.object({
  path: z.string().describe('A file'),
  count: z.int().min(1).max(9).default(3),
  kind: z.enum(['a', 'b']).optional(),
});

const setup = (more: Partial<ToolSpecification<(typeof schema)['shape']>> = {}) => {
  const seen: unknown[] = [];
  const tool = defineTool({
    name: 'probe',
    description: 'a probe',
    schema,
    effect: 'read',
    execute: (args) => {
      seen.push(args);
      return Promise.resolve({ result: { count: args.count } });
    },
    ...more,
  });
  const run = async (args: JsonObject) =>
    (await createToolRegistry([tool]).executeToolCalls([toolCall('1', 'probe', args)], CONTEXT))[0];
  return { tool, seen, run };
};

test('sends the schema to the provider, without its dialect', () => {
  expect(setup().tool.definition).toEqual({
    name: 'probe',
    description: 'a probe',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'A file' },
        count: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
        kind: { type: 'string', enum: ['a', 'b'] },
      },
      required: ['path'],
      additionalProperties: false,
    },
  });
  const open = setup({ unknownKeys: 'pass' }).tool.definition.parameters;
  expect(open).not.toHaveProperty('additionalProperties');
});

test('gives a tool its arguments with defaults', async () => {
  const { run, seen } = setup();
  expect(await run({ path: 'a' })).toMatchObject({ success: true, result: { count: 3 } });
  expect(seen).toEqual([{ path: 'a', count: 3 }]);
});

test('names what is wrong with the arguments, and does not run', async () => {
  const { run, seen } = setup();
  const result = await run({ count: 10, kind: 'c' });
  expect(result).toMatchObject({
    success: false,
    attempts: 0,
    error: {
      code: 'INVALID_TOOL_ARGUMENTS',
      message: expect.stringMatching(/path: .*count: .*kind: /),
    },
  });
  expect(seen).toEqual([]);
});

test('unknown arguments are refused, ignored and named, or passed on (R127)', async () => {
  const refused = setup();
  expect(await refused.run({ path: 'a', content: 'x' })).toMatchObject({
    error: { code: 'INVALID_TOOL_ARGUMENTS', message: expect.stringContaining('content') },
  });

  const ignored = setup({ unknownKeys: 'ignore' });
  expect(await ignored.run({ path: 'a', extra: 1, more: 2 })).toMatchObject({
    success: true,
    details: { ignored_arguments: ['extra', 'more'] },
  });
  expect(ignored.seen).toEqual([{ path: 'a', count: 3 }]);

  const passed = setup({ unknownKeys: 'pass' });
  await passed.run({ path: 'a', content: 'x' });
  expect(passed.seen).toEqual([{ path: 'a', count: 3, content: 'x' }]);
});

test('a tool may name its own time limit (R200)', async () => {
  const clock = createFakeClock();
  const signals: AbortSignal[] = [];
  const { tool } = setup({
    timeoutMs: 500,
    execute: (_args, { signal }) => {
      signals.push(signal);
      return new Promise(() => undefined);
    },
  });
  const registry = createToolRegistry([tool], { clock });
  const running = registry.executeToolCalls([toolCall('1', 'probe', { path: 'a' })], CONTEXT);
  await clock.advance(499);
  expect(signals[0]?.aborted).toBe(false);
  await clock.advance(1);
  expect(await running).toMatchObject([
    { success: false, error: { message: expect.stringContaining('0.5 s') } },
  ]);
  expect(signals[0]?.aborted).toBe(true);
});

test('a tool may say that asking it again is no duplicate (R175)', () => {
  for (const pollable of [true, false]) {
    const registry = createToolRegistry([setup({ pollable }).tool]);
    expect(registry.traitsOf('probe')).toEqual({
      effect: 'read',
      pollable,
      repeatableAfterWrite: false,
      inPlanMode: false,
    });
  }
  expect(createToolRegistry([setup().tool]).traitsOf('probe')?.pollable).toBe(false);
});

test('a tool may allow less than the registry (R127)', async () => {
  const { run, seen } = setup({ maxArgumentBytes: 20 });
  expect(await run({ path: 'x'.repeat(20) })).toMatchObject({
    attempts: 0,
    error: { code: 'ARGUMENTS_TOO_LARGE', hint: expect.stringContaining('Stream long text') },
  });
  expect(seen).toEqual([]);
});

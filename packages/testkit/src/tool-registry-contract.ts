import { OrionError } from '@orion/contracts';
import type {
  JsonObject,
  Tool,
  ToolExecutionContext,
  ToolRegistry,
  ToolResult,
} from '@orion/contracts';
import fastCheck from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toolCall } from './fake-adapter.ts';

/**
 * What every registry keeps.
 *
 * 1. One result per call, in the order of the calls; nothing that a call asks is thrown.
 * 2. Only a registered name is a tool, compared exactly; only a complete call is run (R085, R131).
 * 3. The same signature for calls that mean the same, another one for others (R171).
 */
export function describeToolRegistryContract(
  name: string,
  factory: (tools: readonly Tool[]) => ToolRegistry,
): void {
  describe(`tool registry contract: ${name}`, () => {
    const context: ToolExecutionContext = {
      projectId: 'project',
      requestId: 'request',
      mode: 'act',
      signal: new AbortController().signal,
    };

    const definition = (toolName: string) => ({
      name: toolName,
      description: toolName,
      parameters: {
        type: 'object',
        properties: { path: { type: 'string' }, count: { type: 'number' } },
        required: ['path'],
      },
    });

    const makeTools = () => {
      const ran: string[] = [];
      const tool = (
        toolName: string,
        effect: 'read' | 'write',
        execute: (args: JsonObject) => Promise<JsonObject>,
        inPlanMode: boolean = false,
      ): Tool => ({
        definition: definition(toolName),
        effect,
        inPlanMode,
        execute: async (args, { toolCallId }) => {
          ran.push(toolCallId);
          return { result: await execute(args) };
        },
      });
      const tools: readonly Tool[] = [
        tool('read_file', 'read', (args) => Promise.resolve({ read: args['path'] }), true),
        tool('read_file_and_log', 'read', () => Promise.resolve({ read: true })),
        tool('write_file', 'write', () => Promise.resolve({ written: true }), true),
        tool('broken', 'write', () => Promise.reject(new Error('it broke'))),
        tool('refusing', 'write', () =>
          Promise.reject(
            new OrionError({ code: 'FILE_NOT_FOUND', message: 'no a.txt', hint: 'Look around.' }),
          ),
        ),
      ];
      return { registry: factory(tools), ran };
    };

    const codeOf = (result: ToolResult | undefined): string =>
      result === undefined ? 'none' : result.success ? 'ok' : result.error.code;

    test('offers what is registered and allowed by the mode', () => {
      const { registry } = makeTools();
      const names = (mode: 'plan' | 'act') => registry.definitions(mode).map((tool) => tool.name);
      expect(names('plan')).toEqual(['read_file']);
      expect(names('act')).toEqual([
        'read_file',
        'read_file_and_log',
        'write_file',
        'broken',
        'refusing',
      ]);
      const inPlanMode = names('act').filter((name) => registry.traitsOf(name)?.inPlanMode);
      expect(inPlanMode).toEqual(names('plan'));
    });

    test('answers every call in its order and goes on after a failure', async () => {
      const { registry, ran } = makeTools();
      const results = await registry.executeToolCalls(
        [
          toolCall('1', 'broken', { path: 'a' }),
          toolCall('2', 'refusing', { path: 'a' }),
          toolCall('3', 'nobody', { path: 'a' }),
          toolCall('4', 'read_file', { path: 'a' }),
        ],
        context,
      );
      expect(results.map((result) => [result.toolCallId, codeOf(result)])).toEqual([
        ['1', 'TOOL_FAILED'],
        ['2', 'FILE_NOT_FOUND'],
        ['3', 'UNKNOWN_TOOL'],
        ['4', 'ok'],
      ]);
      expect(results[3]).toMatchObject({
        toolName: 'read_file',
        result: { read: 'a' },
        attempts: 1,
      });
      expect(results[2]).toMatchObject({ attempts: 0 });
      expect(results[1]).toMatchObject({ error: { message: 'no a.txt', hint: 'Look around.' } });
      expect(ran).toEqual(['1', '2', '4']);
    });

    test('knows no tool but by its exact name', async () => {
      const { registry, ran } = makeTools();
      const names = [
        'WritePlanTool_finalize',
        '_finalizeSession',
        '_executeWritePlan',
        '_deleteSession',
        'constructor',
        '__proto__',
        'toString',
        'read_file_and_delete',
        'Read_file',
        ' read_file',
        'read_file ',
        '',
      ];
      const results = await registry.executeToolCalls(
        names.map((toolName, index) => toolCall(String(index), toolName, { path: 'a' })),
        context,
      );
      expect(results.map(codeOf)).toEqual(names.map(() => 'UNKNOWN_TOOL'));
      expect(ran).toEqual([]);
    });

    test('runs nothing but a whole JSON object that fits the parameters', async () => {
      const { registry, ran } = makeTools();
      const results = await registry.executeToolCalls(
        [
          toolCall('1', 'read_file', '{"path":"a"', 'cut'),
          toolCall('2', 'read_file', '{"path":"a"}', 'cut'),
          toolCall('3', 'read_file', 'path: a', 'malformed'),
          toolCall('4', 'read_file', '["a"]'),
          toolCall('5', 'read_file', '"a"'),
          toolCall('6', 'read_file', '{"path":"a"}}'),
          toolCall('7', 'read_file', '{"path":7}'),
          toolCall('8', 'read_file', ''),
          toolCall('9', 'read_file', '{}'),
        ],
        context,
      );
      expect(results.map(codeOf)).toEqual(results.map(() => 'INVALID_TOOL_ARGUMENTS'));
      expect(results.map((result) => result.attempts)).toEqual(results.map(() => 0));
      expect(ran).toEqual([]);
    });

    test('refuses arguments that are too large before reading them', async () => {
      const { registry, ran } = makeTools();
      const [result] = await registry.executeToolCalls(
        [toolCall('1', 'read_file', { path: 'a'.repeat(2 * 1024 * 1024) })],
        context,
      );
      expect(codeOf(result)).toBe('ARGUMENTS_TOO_LARGE');
      expect(ran).toEqual([]);
    });

    test('runs in plan mode what reads and is meant for it (R177)', async () => {
      const { registry, ran } = makeTools();
      const results = await registry.executeToolCalls(
        ['write_file', 'read_file', 'read_file_and_log'].map((toolName, index) =>
          toolCall(String(index), toolName, { path: 'a' }),
        ),
        { ...context, mode: 'plan' },
      );
      expect(results.map(codeOf)).toEqual(['TOOL_NOT_ALLOWED', 'ok', 'TOOL_NOT_ALLOWED']);
      expect(ran).toEqual(['1']);
    });

    test('runs nothing after an abort', async () => {
      const { registry, ran } = makeTools();
      const results = await registry.executeToolCalls([toolCall('1', 'read_file', { path: 'a' })], {
        ...context,
        signal: AbortSignal.abort(),
      });
      expect(results.map(codeOf)).toEqual(['ABORTED']);
      expect(ran).toEqual([]);
    });

    test('a signature depends on what a call means, not on how it is written', () => {
      const { registry } = makeTools();
      const signature = (args: string | JsonObject, toolName = 'read_file', project = 'p') =>
        registry.signatureOf(toolCall('x', toolName, args), project);
      const plain = signature({ path: 'a.txt', count: 1 });
      expect(signature('{ "count": 1.0, "path": " a.txt " }')).toBe(plain);
      expect(
        registry.signatureOf(toolCall('y', 'read_file', { path: 'a.txt', count: 1 }), 'p'),
      ).toBe(plain);
      const others = [
        signature({ path: 'a.txt', count: 2 }),
        signature({ path: 'b.txt', count: 1 }),
        signature({ path: 'a.txt', count: 1, nested: { deep: [1, { x: 2 }] } }),
        signature({ path: 'a.txt', count: 1, nested: { deep: [1, { x: 3 }] } }),
        signature({ path: 'a.txt', count: 1 }, 'write_file'),
        signature({ path: 'a.txt', count: 1 }, 'read_file_b'),
        signature({ path: 'a.txt', count: 1 }, 'read_file', 'q'),
        signature('not json'),
        signature('not json 2'),
        plain,
      ];
      expect(new Set(others).size).toBe(others.length);
    });

    test('signatures ignore key order at every depth', () => {
      const { registry } = makeTools();
      fastCheck.assert(
        fastCheck.property(
          fastCheck.dictionary(fastCheck.string(), fastCheck.jsonValue()),
          (args) => {
            // A registry may refuse such a key; then there is nothing to compare.
            fastCheck.pre(!JSON.stringify(args).includes('__proto__'));
            const sign = (value: unknown) =>
              registry.signatureOf(toolCall('x', 'read_file', JSON.stringify(value)), 'p');
            expect(sign(reversed(args))).toBe(sign(args));
          },
        ),
        { numRuns: 100 },
      );
    });

    test('sums a result up in one line', async () => {
      const { registry } = makeTools();
      const results = await registry.executeToolCalls(
        [toolCall('1', 'read_file', { path: 'a' }), toolCall('2', 'no\nbody', {})],
        context,
      );
      for (const result of results) {
        const summary = registry.summarize(result);
        expect(summary).not.toBe('');
        expect(summary).not.toMatch(/[\r\n]/);
      }
    });
  });
}

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

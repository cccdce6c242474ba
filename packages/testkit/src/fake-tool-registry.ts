import type {
  JsonObject,
  JsonValue,
  ToolCall,
  ToolExecutionContext,
  ToolRegistry,
  ToolResult,
} from '@orion/contracts';

/** What a fake tool returns: a value, a whole outcome, or a function of the arguments. */
export type FakeTool = {
  readonly effect: 'read' | 'write';
  readonly pollable?: boolean;
  readonly repeatableAfterWrite?: boolean;
  /** Whether PLAN mode offers it, if it reads. */
  readonly inPlanMode?: boolean;
  readonly run: (
    args: JsonObject,
    context: ToolExecutionContext,
    call: ToolCall,
  ) => Promise<Partial<ToolResult>> | Partial<ToolResult>;
};

/**
 * A registry of scripted tools, for protocol tests without a tool runner (R144). It checks no arguments: what
 * arrives here is what a protocol decided to run.
 */
export interface FakeToolRegistry extends ToolRegistry {
  /** Ids of the calls that ran, in order. */
  readonly ran: readonly string[];
}

export function createFakeToolRegistry(
  tools: Readonly<Record<string, FakeTool>>,
): FakeToolRegistry {
  const ran: string[] = [];
  const byName = new Map(Object.entries(tools));
  return {
    ran,
    definitions: (mode) =>
      [...byName]
        .filter(([, tool]) => mode === 'act' || isInPlanMode(tool))
        .map(([name]) => ({ name, description: name, parameters: { type: 'object' } })),
    traitsOf(toolName) {
      const tool = byName.get(toolName);
      if (tool === undefined) return undefined;
      const { effect, pollable = false, repeatableAfterWrite = false } = tool;
      return { effect, pollable, repeatableAfterWrite, inPlanMode: isInPlanMode(tool) };
    },
    async executeToolCalls(calls, context) {
      const results: ToolResult[] = [];
      for (const call of calls) {
        const tool = byName.get(call.name);
        const base = { toolCallId: call.id, toolName: call.name, details: {} };
        if (tool === undefined) {
          const error = { code: 'UNKNOWN_TOOL', message: call.name, retryable: false } as const;
          results.push({ ...base, success: false, error, attempts: 0 });
          continue;
        }
        ran.push(call.id);
        const args = JSON.parse(call.arguments === '' ? '{}' : call.arguments) as JsonObject;
        const given = await tool.run(args, context, call);
        results.push({
          ...base,
          success: true,
          result: null,
          attempts: 1,
          ...given,
        } as ToolResult);
      }
      return results;
    },
    signatureOf: (call, projectId) => JSON.stringify([call.name, call.arguments, projectId]),
    summarize: (result) => `${result.toolName}: ${result.success ? 'ok' : result.error.code}`,
  };
}

function isInPlanMode({ effect, inPlanMode = false }: FakeTool): boolean {
  return effect === 'read' && inPlanMode;
}

/** A read tool of the fake that always answers with this value. */
export function readTool(result: JsonValue): FakeTool {
  return { effect: 'read', inPlanMode: true, run: () => ({ success: true, result }) };
}

import { cutText } from '@orion/contracts';
import type {
  ErrorInfo,
  FinishReason,
  Message,
  ProtocolContext,
  ToolCall,
  ToolDefinition,
  ToolResult,
  TurnStop,
  Usage,
} from '@orion/contracts';

const TRACED_ARGUMENTS = 2048;

/**
 * The milestones of a run (R157, R168, R232), written to the context's trace service.
 *
 * 1. Nothing here is written per text chunk.
 * 2. No file content: results are described by their length, arguments cut to 2,048 characters (R230).
 */
export type ProtocolTrace = {
  toolRegistration(definitions: readonly ToolDefinition[]): void;
  phaseStart(phase: 'action' | 'tool', phaseIndex: number): void;
  phaseEnd(phase: 'action' | 'tool', phaseIndex: number, reason: string): void;
  llmCall(
    phaseIndex: number,
    messages: readonly Message[],
    toolNames: number,
    purpose: string,
  ): void;
  llmResult(phaseIndex: number, facts: LlmResultFacts): void;
  toolCall(phaseIndex: number, call: ToolCall, treatment: 'run' | 'refused' | 'ignored'): void;
  toolResult(phaseIndex: number, result: ToolResult, contentLength: number): void;
  toolExecuted(phaseIndex: number, result: ToolResult): void;
  duplicate(phaseIndex: number, call: ToolCall, earlier: ToolResult): void;
  errorOccurred(phaseIndex: number, error: ErrorInfo): void;
  budgetExhausted(phaseIndex: number, stop: TurnStop): void;
  /** Something that a protocol decided and that has no type of its own. */
  note(type: string, phaseIndex: number, details: unknown): void;
};

export type LlmResultFacts = {
  readonly finish: FinishReason | 'enough_calls' | 'cut' | 'error' | 'aborted';
  readonly textLength: number;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage | null;
};

export function createProtocolTrace(context: ProtocolContext, protocol: string): ProtocolTrace {
  const { traceService, turnState, adapter, redact = (text: string) => text } = context;
  const write = (
    type: string,
    phaseIndex: number | null,
    details: unknown,
    more: { toolName?: string; direction?: 'in' | 'out'; error?: unknown; summary?: string } = {},
  ): void => {
    traceService.record({
      type,
      projectId: context.projectId,
      requestId: context.requestId,
      source: `protocol:${protocol}`,
      cycleIndex: turnState.cycleIndex,
      ...(phaseIndex === null ? {} : { phaseIndex }),
      details,
      ...more,
    });
  };

  return {
    toolRegistration(definitions) {
      const tools = definitions.map((definition) => definition.name);
      write(
        'tool_registration',
        null,
        { tools, mode: context.mode },
        { summary: `${tools.length} tools offered` },
      );
    },
    phaseStart(phase, phaseIndex) {
      write('phase_start', phaseIndex, { phase });
    },
    phaseEnd(phase, phaseIndex, reason) {
      write('phase_end', phaseIndex, { phase, reason });
    },
    llmCall(phaseIndex, messages, tools, purpose) {
      write(
        'llm_call',
        phaseIndex,
        { provider: adapter.name, model: adapter.model, messages: messages.length, tools, purpose },
        { direction: 'out' },
      );
    },
    llmResult(phaseIndex, facts) {
      const calls = facts.calls.map((call) => ({
        id: call.id,
        name: cutText(call.name, 255),
        state: call.state,
        argumentsLength: call.arguments.length,
      }));
      write('llm_result', phaseIndex, { ...facts, calls }, { direction: 'in' });
    },
    toolCall(phaseIndex, call, treatment) {
      write(
        'tool_call',
        phaseIndex,
        {
          callId: call.id,
          treatment,
          state: call.state,
          arguments: cutText(redact(call.arguments), TRACED_ARGUMENTS),
          argumentsLength: call.arguments.length,
        },
        { toolName: call.name },
      );
    },
    toolResult(phaseIndex, result, contentLength) {
      write(
        'tool_result',
        phaseIndex,
        {
          callId: result.toolCallId,
          success: result.success,
          attempts: result.attempts,
          contentLength,
          details: result.details,
        },
        { toolName: result.toolName, ...(result.success ? {} : { error: result.error }) },
      );
    },
    toolExecuted(phaseIndex, result) {
      write(
        'tool_executed',
        phaseIndex,
        { callId: result.toolCallId, success: result.success, attempts: result.attempts },
        { toolName: result.toolName },
      );
    },
    duplicate(phaseIndex, call, earlier) {
      write(
        'duplicate_tool_call',
        phaseIndex,
        { callId: call.id, earlierCallId: earlier.toolCallId, duplicates: turnState.duplicates },
        { toolName: call.name },
      );
    },
    errorOccurred(phaseIndex, error) {
      write('error_occurred', phaseIndex, {}, { error });
    },
    budgetExhausted(phaseIndex, { reason, limit, value }) {
      write('budget_exhausted', phaseIndex, { stopReason: reason, limit, value });
    },
    note: write,
  };
}

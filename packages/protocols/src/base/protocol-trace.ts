import { cutText } from '@orion/contracts';
import type {
  ErrorInfo,
  FinishReason,
  Message,
  ProtocolContext,
  ToolCall,
  ToolDefinition,
  ToolResult,
  TraceInput,
  TurnStop,
  Usage,
} from '@orion/contracts';

const TRACED_ARGUMENTS = 2048;

export type LlmResultFacts = {
  readonly finish: FinishReason | 'enough_calls' | 'cut' | 'error' | 'aborted';
  readonly textLength: number;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage | null;
};

/** The fields of a record besides its details. */
type Facts = Pick<TraceInput, 'toolName' | 'direction' | 'error' | 'summary'>;

/**
 * The milestones of a run (R157, R168, R232), written to the context's trace service.
 *
 * 1. Nothing is recorded per text chunk.
 * 2. No file content is recorded: results are described by their length, and arguments are cut to 2,048 characters
 *    (R230).
 */
export class ProtocolTrace {
  readonly #context: ProtocolContext;
  readonly #source: string;

  constructor(context: ProtocolContext, protocol: string) {
    this.#context = context;
    this.#source = `protocol:${protocol}`;
  }

  toolRegistration(definitions: readonly ToolDefinition[]): void {
    const tools = definitions.map((definition) => definition.name);
    this.#write(
      'tool_registration',
      null,
      { tools, mode: this.#context.mode },
      { summary: `${tools.length} tools offered` },
    );
  }

  phaseStart(phase: 'action' | 'tool', phaseIndex: number): void {
    this.#write('phase_start', phaseIndex, { phase });
  }

  phaseEnd(phase: 'action' | 'tool', phaseIndex: number, reason: string): void {
    this.#write('phase_end', phaseIndex, { phase, reason });
  }

  llmCall(phaseIndex: number, messages: readonly Message[], tools: number, purpose: string): void {
    const { adapter } = this.#context;
    this.#write(
      'llm_call',
      phaseIndex,
      { provider: adapter.name, model: adapter.model, messages: messages.length, tools, purpose },
      { direction: 'out' },
    );
  }

  llmResult(phaseIndex: number, facts: LlmResultFacts): void {
    const calls = facts.calls.map((call) => ({
      id: call.id,
      name: cutText(call.name, 255),
      state: call.state,
      argumentsLength: call.arguments.length,
    }));
    this.#write('llm_result', phaseIndex, { ...facts, calls }, { direction: 'in' });
  }

  toolCall(phaseIndex: number, call: ToolCall, treatment: 'run' | 'refused' | 'ignored'): void {
    const { redact = (text: string) => text } = this.#context;
    this.#write(
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
  }

  toolResult(phaseIndex: number, result: ToolResult, contentLength: number): void {
    this.#write(
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
  }

  toolExecuted(phaseIndex: number, result: ToolResult): void {
    this.#write(
      'tool_executed',
      phaseIndex,
      { callId: result.toolCallId, success: result.success, attempts: result.attempts },
      { toolName: result.toolName },
    );
  }

  duplicate(phaseIndex: number, call: ToolCall, earlier: ToolResult): void {
    this.#write(
      'duplicate_tool_call',
      phaseIndex,
      {
        callId: call.id,
        earlierCallId: earlier.toolCallId,
        duplicates: this.#context.turnState.duplicates,
      },
      { toolName: call.name },
    );
  }

  errorOccurred(phaseIndex: number, error: ErrorInfo): void {
    this.#write('error_occurred', phaseIndex, {}, { error });
  }

  budgetExhausted(phaseIndex: number, { reason, limit, value }: TurnStop): void {
    this.#write('budget_exhausted', phaseIndex, { stopReason: reason, limit, value });
  }

  /** A decision of a protocol that has no method of its own here. */
  note(type: string, phaseIndex: number, details: unknown): void {
    this.#write(type, phaseIndex, details);
  }

  #write(type: string, phaseIndex: number | null, details: unknown, facts: Facts = {}): void {
    const { traceService, projectId, requestId, turnState } = this.#context;
    traceService.record({
      type,
      projectId,
      requestId,
      source: this.#source,
      cycleIndex: turnState.cycleIndex,
      ...(phaseIndex === null ? {} : { phaseIndex }),
      details,
      ...facts,
    });
  }
}

export function createProtocolTrace(context: ProtocolContext, protocol: string): ProtocolTrace {
  return new ProtocolTrace(context, protocol);
}

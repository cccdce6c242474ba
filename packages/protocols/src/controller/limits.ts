import type { ProtocolContext, ToolCall, ToolResult, TurnStop } from '@orion/contracts';
import { explainStop } from '../base/stop-words.ts';

/**
 * The limits that only a controller has (R200). A step is what the model describes as one: calls in a row with the
 * same description, or with none, belong together.
 */
export class ControllerLimits {
  readonly #context: ProtocolContext;
  readonly #failures = new Set<string>();
  #description: string | null = null;
  #callsOfStep = 0;

  constructor(context: ProtocolContext) {
    this.#context = context;
  }

  ceiling(): TurnStop | null {
    const { iterations } = this.#context.turnState;
    return iterations >= this.#context.config.maxControllerTurns
      ? { reason: 'ceiling', limit: 'maxControllerTurns', value: iterations }
      : null;
  }

  /** Counts a call that is about to be made for this step; not null: it is one too many. */
  beforeCall(description: string | null): TurnStop | null {
    const named = description?.trim() ?? '';
    if (named !== this.#description) this.#callsOfStep = 0;
    this.#description = named;
    const limit = this.#context.config.maxToolCallsPerStep;
    if (this.#callsOfStep >= limit) {
      return { reason: 'ceiling', limit: 'maxToolCallsPerStep', value: limit };
    }
    this.#callsOfStep += 1;
    return null;
  }

  /** The same call that failed twice for the same reason; a refused duplicate has a limit of its own. */
  afterCall(call: ToolCall, result: ToolResult | undefined): TurnStop | null {
    if (result === undefined || result.success || result.error.code === 'DUPLICATE_BLOCKED') {
      return null;
    }
    const { toolRegistry, projectId } = this.#context;
    const { code, message } = result.error;
    const failure = JSON.stringify([toolRegistry.signatureOf(call, projectId), code, message]);
    if (this.#failures.has(failure)) return { reason: 'progress', limit: 'sameFailure', value: 2 };
    this.#failures.add(failure);
    return null;
  }
}

export function explainControllerStop(stop: TurnStop): string {
  switch (stop.limit) {
    case 'maxControllerTurns':
      return `Maximum controller turns (${stop.value}) reached.`;
    case 'maxToolCallsPerStep':
      return `Maximum tool calls for one step (${stop.value}) reached.`;
    case 'sameFailure':
      return 'The same tool call failed twice in the same way.';
    default:
      return explainStop(stop);
  }
}

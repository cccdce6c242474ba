import type { ProtocolContext, ToolCall, ToolResult, TurnStop } from '@orion/contracts';
import { explainStop } from '../base/stop-words.ts';

/**
 * The limits that only a controller has (R200). What they count stands in `turnState`: a run ends with every file. A
 * step is what the model describes as one: calls in a row with the same description, or with none, belong together.
 */

export function controllerCeiling({ turnState, config }: ProtocolContext): TurnStop | null {
  const { iterations } = turnState;
  return iterations >= config.maxControllerTurns
    ? { reason: 'ceiling', limit: 'maxControllerTurns', value: iterations }
    : null;
}

/** Counts a call that is about to be made for this step; not null: it is one too many. */
export function beforeCall(
  { turnState: { step }, config }: ProtocolContext,
  description: string | null,
): TurnStop | null {
  const named = description?.trim() ?? '';
  if (named !== step.description) step.calls = 0;
  step.description = named;
  const limit = config.maxToolCallsPerStep;
  if (step.calls >= limit) return { reason: 'ceiling', limit: 'maxToolCallsPerStep', value: limit };
  step.calls += 1;
  return null;
}

/** The same call that failed twice for the same reason; a refused duplicate has a limit of its own. */
export function afterCall(
  { turnState: { failures }, toolRegistry, projectId }: ProtocolContext,
  call: ToolCall,
  result: ToolResult | undefined,
): TurnStop | null {
  if (result === undefined || result.success || result.error.code === 'DUPLICATE_BLOCKED') {
    return null;
  }
  const { code, message } = result.error;
  const failure = JSON.stringify([toolRegistry.signatureOf(call, projectId), code, message]);
  if (failures.has(failure)) return { reason: 'progress', limit: 'sameFailure', value: 2 };
  failures.add(failure);
  return null;
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

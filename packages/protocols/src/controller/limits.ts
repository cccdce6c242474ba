import type {
  ProtocolConfig,
  ProtocolContext,
  ToolCall,
  ToolResult,
  TurnState,
  TurnStop,
} from '@orion/contracts';
import { ownLimits, ownMemory } from '../base/own.ts';
import { explainStop } from '../base/stop-notices.ts';
import { callKey } from '../calls/call-key.ts';

/**
 * The limits that only a controller has (R200). Their counters are in `turnState`, because a run ends with every
 * file. A step is what the model describes as one: consecutive calls with the same description, or with none, belong
 * together.
 */
const LIMITS = {
  /** Model calls. */
  maxControllerTurns: 20,
  /** Tool calls in a row for one step. */
  maxToolCallsPerStep: 5,
  /** How often unusable output is corrected before it is an error. */
  maxInvalidOutputs: 2,
};

export function controllerLimits(config: ProtocolConfig): typeof LIMITS {
  return ownLimits(config, 'controller', LIMITS);
}

type Memory = {
  step: string | null;
  /** `cyclesUsed` when the step began. */
  cyclesBefore: number;
  /** Failed calls, each by its signature and error. */
  readonly failures: string[];
};

function memoryOf(turnState: TurnState): Memory {
  const begin = (): Memory => ({ step: null, cyclesBefore: 0, failures: [] });
  return ownMemory(turnState, 'controller', begin);
}

export function controllerCeiling({ turnState, config }: ProtocolContext): TurnStop | null {
  const { iterations } = turnState;
  return iterations >= controllerLimits(config).maxControllerTurns
    ? { reason: 'ceiling', limit: 'maxControllerTurns', value: iterations }
    : null;
}

/** Counts a call before it runs. Returns a stop if it is one too many for its step. */
export function beforeCall(
  { turnState, config }: ProtocolContext,
  description: string | null,
): TurnStop | null {
  const memory = memoryOf(turnState);
  const step = description?.trim() ?? '';
  if (step !== memory.step) memory.cyclesBefore = turnState.cyclesUsed;
  memory.step = step;
  const limit = controllerLimits(config).maxToolCallsPerStep;
  if (turnState.cyclesUsed - memory.cyclesBefore >= limit) {
    return { reason: 'ceiling', limit: 'maxToolCallsPerStep', value: limit };
  }
  turnState.cyclesUsed += 1;
  return null;
}

/** Returns a stop if the same call failed twice for the same reason. Refused duplicates have their own limit. */
export function afterCall(
  { turnState, toolRegistry, projectId }: ProtocolContext,
  call: ToolCall,
  result: ToolResult | undefined,
): TurnStop | null {
  if (result === undefined || result.success || result.error.code === 'DUPLICATE_BLOCKED') {
    return null;
  }
  const { code, message } = result.error;
  const failure = JSON.stringify([callKey(toolRegistry, call, projectId), code, message]);
  const { failures } = memoryOf(turnState);
  if (failures.includes(failure)) return { reason: 'progress', limit: 'sameFailure', value: 2 };
  failures.push(failure);
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

import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { JsonValue, ToolCall, ToolRegistry, ToolResult, TurnState } from '@orion/contracts';
import { callKey } from './call-key.ts';

/**
 * The calls that were run in a turn, kept in `turnState.executed` by signature (R171–R173, R175).
 *
 * 1. Only calls that ran count. A refused call may be repeated.
 * 2. A call with a retryable failure may run once more. If it fails again, it is stored as not retryable.
 * 3. After a write that ran, every read may run again, because the files may have changed, even if it failed or nobody
 *    knows how it ended. After a successful one, so may a write that says so, such as another command.
 * 4. A begin counts only after its session was committed: before that, it has not written anything.
 * 5. A pollable tool may be called again with the same arguments.
 */

/** The earlier result of the same call, if it must not run again. */
export function findExecuted(
  turnState: TurnState,
  registry: ToolRegistry,
  projectId: string,
  call: ToolCall,
): ToolResult | undefined {
  if (registry.traitsOf(call.name)?.pollable === true) return undefined;
  const earlier = turnState.executed[callKey(registry, call, projectId)];
  if (earlier === undefined) return undefined;
  return !earlier.success && earlier.error.retryable ? undefined : earlier;
}

/** Records a call that ran, by its signature. */
export function recordExecuted(
  turnState: TurnState,
  registry: ToolRegistry,
  projectId: string,
  call: ToolCall,
  result: ToolResult,
): void {
  if (result.attempts === 0) return;
  if (result.success && result.next === 'content') return;
  if (!result.success && call.name === BEGIN_TOOL_NAME) return;
  const isRead = (name: string): boolean => registry.traitsOf(name)?.effect === 'read';
  const mayRepeat = (name: string): boolean =>
    isRead(name) || (result.success && registry.traitsOf(name)?.repeatableAfterWrite === true);
  if (!isRead(call.name)) {
    for (const [signature, earlier] of Object.entries(turnState.executed)) {
      if (mayRepeat(earlier.toolName)) delete turnState.executed[signature];
    }
  }
  const signature = callKey(registry, call, projectId);
  const again = turnState.executed[signature] !== undefined;
  turnState.executed[signature] =
    again && !result.success ? { ...result, error: { ...result.error, retryable: false } } : result;
}

/**
 * Records a begin whose session was committed, with the answer to its call. Called by the turn driver. What the begin
 * used of the protocol's own limits is returned: tasks with many files are limited by the stop policy and the budgets
 * (R160).
 */
export function recordCommittedBegin(
  turnState: TurnState,
  registry: ToolRegistry,
  projectId: string,
  call: ToolCall,
  receipt: JsonValue,
): void {
  turnState.iterations = Math.max(0, turnState.iterations - 1);
  turnState.cyclesUsed = Math.max(0, turnState.cyclesUsed - 1);
  recordExecuted(turnState, registry, projectId, call, {
    toolCallId: call.id,
    toolName: call.name,
    success: true,
    result: receipt,
    details: {},
    attempts: 1,
  });
}

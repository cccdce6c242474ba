import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { JsonValue, ToolCall, ToolRegistry, ToolResult, TurnState } from '@orion/contracts';

/**
 * Which calls of a turn were run, kept in `turnState.executed` by signature (R171–R173, R175).
 *
 * 1. Only a call that ran counts; a refused one may be repeated.
 * 2. A failure that is marked retryable may run once more; if it fails again it is kept as not retryable.
 * 3. A write that succeeded makes every read legal again: the world has changed.
 * 4. A begin counts only once its session was committed: until then it asked for work and did none.
 * 5. A pollable tool may be asked the same again.
 */

/** The result of the same call, if that forbids running it again. */
export function findExecuted(
  turnState: TurnState,
  registry: ToolRegistry,
  projectId: string,
  call: ToolCall,
): ToolResult | undefined {
  if (registry.traitsOf(call.name)?.pollable === true) return undefined;
  const earlier = turnState.executed[registry.signatureOf(call, projectId)];
  if (earlier === undefined) return undefined;
  return !earlier.success && earlier.error.retryable ? undefined : earlier;
}

/** Notes a call that ran, by its signature. */
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
  if (result.success && !isRead(call.name)) {
    for (const [signature, earlier] of Object.entries(turnState.executed)) {
      if (isRead(earlier.toolName)) delete turnState.executed[signature];
    }
  }
  const signature = registry.signatureOf(call, projectId);
  const again = turnState.executed[signature] !== undefined;
  turnState.executed[signature] =
    again && !result.success ? { ...result, error: { ...result.error, retryable: false } } : result;
}

/**
 * Notes a begin whose session was committed, with what its call is answered with. Called by the turn driver. The
 * begin is given back what it used of the protocol's limits: a task of many files is bounded by the stop policy
 * and the budgets (R160).
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

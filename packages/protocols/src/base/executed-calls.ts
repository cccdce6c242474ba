import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { ToolCall, ToolRegistry, ToolResult, TurnState } from '@orion/contracts';

/**
 * Which calls of a turn were run, kept in `turnState.executed` by signature (R171–R173, R175).
 *
 * 1. Only a call that ran counts; a refused one may be repeated.
 * 2. A failure that is marked retryable may run once more; if it fails again it is kept as not retryable.
 * 3. A write that succeeded makes every read legal again: the world has changed.
 * 4. A begin counts only once its session was committed: until then it asked for work and did none.
 */

/** The result of the same call, if that forbids running it again. */
export function findExecuted(
  turnState: TurnState,
  registry: ToolRegistry,
  projectId: string,
  call: ToolCall,
): ToolResult | undefined {
  const earlier = turnState.executed.get(registry.signatureOf(call, projectId));
  if (earlier === undefined) return undefined;
  return !earlier.success && earlier.error.retryable ? undefined : earlier;
}

/**
 * Notes a call that ran. The turn driver calls it too, with the receipt, when a begin's session was committed;
 * that result carries no `next`.
 */
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
  const reads = new Set(registry.definitions('plan').map((definition) => definition.name));
  if (result.success && !reads.has(call.name)) {
    for (const [signature, earlier] of turnState.executed) {
      if (reads.has(earlier.toolName)) turnState.executed.delete(signature);
    }
  }
  const signature = registry.signatureOf(call, projectId);
  const again = turnState.executed.has(signature);
  turnState.executed.set(
    signature,
    again && !result.success ? { ...result, error: { ...result.error, retryable: false } } : result,
  );
}

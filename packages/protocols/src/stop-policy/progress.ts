import { createHash } from 'node:crypto';
import type { ToolResult, TurnProgress } from '@orion/contracts';

/**
 * Whether a turn makes progress. A tool phase is new if one of its calls was not made before in this turn, or
 * returned something that was not seen before.
 *
 * 1. All earlier phases count, not only the last one, so two alternating calls are detected like a repeated one.
 * 2. Only calls that ran count. A refused duplicate is not a tool phase.
 * 3. A pollable tool may be called repeatedly in a row: waiting is neither progress nor a loop. Returning to it after
 *    another call is a loop if its answer is old.
 */

/** A call that ran. */
export type ExecutedCall = {
  readonly signature: string;
  readonly result: ToolResult;
  readonly pollable: boolean;
};

/** Records one tool phase. Returns true if it brought nothing new. */
export function notePhase(progress: TurnProgress, calls: readonly ExecutedCall[]): boolean {
  if (calls.length === 0) return false;
  let news = false;
  let waiting = true;
  for (const { signature, result, pollable } of calls) {
    const hash = resultHash(result);
    if (!progress.seen[signature] || !progress.seen[hash]) news = true;
    if (!(pollable && signature === progress.lastSignature)) waiting = false;
    progress.seen[signature] = true;
    progress.seen[hash] = true;
    progress.lastSignature = signature;
  }
  if (news) progress.idlePhases = 0;
  else if (!waiting) progress.idlePhases += 1;
  return !news && !waiting;
}

function resultHash(result: ToolResult): string {
  const said = result.success
    ? result.result
    : { code: result.error.code, message: result.error.message };
  return createHash('sha256').update(JSON.stringify(said)).digest('base64');
}

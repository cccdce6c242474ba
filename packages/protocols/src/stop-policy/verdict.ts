import type { ProtocolConfig, ProtocolContext, TurnState, TurnStop } from '@orion/contracts';

/**
 * Decides whether a turn has reached a limit, from its state and the time.
 *
 * 1. The first limit wins: the caller checks before every model call, and the first stop stays the turn's stop.
 *    Limits that are reached at the same moment rank in the order in which they are checked here.
 * 2. A budget is the user's own limit (R251). It includes content stages, and after it the model is not called again.
 * 3. The policy (R169) counts model calls outside content stages and allows one last answer (R170).
 * 4. Each protocol checks its own ceilings after these.
 */

export type BudgetReason = 'max_turns' | 'max_seconds' | 'max_tokens';

/** The part of a context that a verdict depends on. */
export type LimitedTurn = Pick<ProtocolContext, 'turnState' | 'config' | 'clock' | 'startedAt'>;

/** The budget that is used up, if any. */
export function findBudgetStop(turn: LimitedTurn): TurnStop | null {
  const { maxTurns, maxSeconds, maxTokens } = turn.config.budget;
  const { protocol, content } = turn.turnState.spent;
  const calls = protocol.calls + content.calls;
  if (maxTurns !== null && calls >= maxTurns) return budgetStop('max_turns', maxTurns);
  if (maxSeconds !== null && millisecondsLeft(turn) <= 0) {
    return budgetStop('max_seconds', maxSeconds);
  }
  const tokens = protocol.tokens + content.tokens;
  if (maxTokens !== null && tokens >= maxTokens) return budgetStop('max_tokens', maxTokens);
  return null;
}

/** The limit of the shared policy that is reached, if any. */
export function findPolicyStop(state: TurnState, config: ProtocolConfig): TurnStop | null {
  const { duplicates, progress } = state;
  if (duplicates > 0 && duplicates >= config.maxDuplicateAttempts) {
    return { reason: 'duplicates', limit: 'maxDuplicateAttempts', value: duplicates };
  }
  if (progress.idlePhases > 0 && progress.idlePhases >= config.maxIdleToolPhases) {
    return { reason: 'progress', limit: 'maxIdleToolPhases', value: progress.idlePhases };
  }
  const { milliseconds, tokens } = state.spent.protocol;
  if (milliseconds >= config.stopSeconds * 1000) return policyStop('time', config);
  if (tokens >= config.stopTokens) return policyStop('tokens', config);
  return null;
}

export function findStop(turn: LimitedTurn): TurnStop | null {
  return findBudgetStop(turn) ?? findPolicyStop(turn.turnState, turn.config);
}

/** The milliseconds that the time budget leaves. */
export function millisecondsLeft({ config, clock, startedAt }: LimitedTurn): number {
  const { maxSeconds } = config.budget;
  if (maxSeconds === null) return Number.POSITIVE_INFINITY;
  return maxSeconds * 1000 - (clock.monotonic() - startedAt);
}

/** Whether a stopped turn may still answer: not if the stop was a budget, nor if a budget is used up. */
export function mayAnswer(stop: TurnStop, turn: LimitedTurn): boolean {
  const isBudget = ['max_turns', 'max_seconds', 'max_tokens'].includes(stop.reason);
  return !isBudget && findBudgetStop(turn) === null;
}

export function budgetStop(reason: BudgetReason, value: number): TurnStop {
  const limits = { max_turns: 'maxTurns', max_seconds: 'maxSeconds', max_tokens: 'maxTokens' };
  return { reason, limit: limits[reason], value };
}

export function policyStop(reason: 'time' | 'tokens', config: ProtocolConfig): TurnStop {
  return reason === 'time'
    ? { reason, limit: 'stopSeconds', value: config.stopSeconds }
    : { reason, limit: 'stopTokens', value: config.stopTokens };
}

import type { TurnStop } from '@orion/contracts';
import { budgetStop, millisecondsOf, policyStop } from './verdict.ts';
import type { LimitedTurn } from './verdict.ts';

/** How long the answer after a stop may take, in milliseconds, when the time is what was used up. */
export const FINAL_GRACE_MS: number = 10_000;
/** The same for the tokens. */
export const FINAL_GRACE_TOKENS: number = 4096;

/** How much one model call may take before it is cut, and which limit that would be. */
export type Allowance = {
  readonly milliseconds: number;
  readonly onTime: TurnStop;
  readonly tokens: number;
  readonly onTokens: TurnStop;
};

/** `answer`: of a protocol, with tools. `final`: the one after a stop. `content`: one that streams a file. */
export type CallPurpose = 'answer' | 'final' | 'content';

/**
 * What is left for the next model call. The nearer of policy and budget decides; a content stage has only the
 * budget, and none at all without one (`Infinity`).
 */
export function allowanceOf(turn: LimitedTurn, purpose: CallPurpose): Allowance {
  const { config } = turn;
  const { protocol, content } = turn.turnState.spent;
  const { maxSeconds, maxTokens } = config.budget;
  const policy = {
    milliseconds: left(config.stopSeconds * 1000 - protocol.milliseconds, purpose, FINAL_GRACE_MS),
    tokens: left(config.stopTokens - protocol.tokens, purpose, FINAL_GRACE_TOKENS),
  };
  const budget = {
    milliseconds:
      maxSeconds === null ? Number.POSITIVE_INFINITY : maxSeconds * 1000 - millisecondsOf(turn),
    tokens:
      maxTokens === null ? Number.POSITIVE_INFINITY : maxTokens - protocol.tokens - content.tokens,
  };
  const budgetEndsTime = budget.milliseconds <= policy.milliseconds;
  const budgetEndsTokens = budget.tokens <= policy.tokens;
  return {
    milliseconds: Math.max(0, Math.min(policy.milliseconds, budget.milliseconds)),
    onTime:
      budgetEndsTime && maxSeconds !== null
        ? budgetStop('max_seconds', maxSeconds)
        : policyStop('time', config),
    tokens: Math.max(0, Math.min(policy.tokens, budget.tokens)),
    onTokens:
      budgetEndsTokens && maxTokens !== null
        ? budgetStop('max_tokens', maxTokens)
        : policyStop('tokens', config),
  };
}

function left(rest: number, purpose: CallPurpose, grace: number): number {
  switch (purpose) {
    case 'answer':
      return rest;
    case 'final':
      return Math.max(rest, grace);
    case 'content':
      return Number.POSITIVE_INFINITY;
  }
}

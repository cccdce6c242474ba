import type { TurnStop } from '@orion/contracts';
import { budgetStop, millisecondsLeft, policyStop } from './verdict.ts';
import type { LimitedTurn } from './verdict.ts';

/** How long the answer after a stop may take, in milliseconds, if time was the limit. */
export const FINAL_GRACE_MS: number = 10_000;
/** How many tokens it may take if tokens were the limit. */
export const FINAL_GRACE_TOKENS: number = 4096;

/** How much one model call may use before it is cut, and by which limit. */
export type Allowance = {
  readonly milliseconds: number;
  readonly onTime: TurnStop;
  readonly tokens: number;
  readonly onTokens: TurnStop;
};

/**
 * `answer`: an ordinary call with tools. `final`: the last call after a stop. `content`: a call that streams a file.
 */
export type CallPurpose = 'answer' | 'final' | 'content';

/**
 * What the next model call may use: the smaller of what the policy and the budget leave. Only the budget applies to a
 * content stage; without one it is unlimited (`Infinity`).
 */
export function allowanceOf(turn: LimitedTurn, purpose: CallPurpose): Allowance {
  const { config } = turn;
  const { protocol, content } = turn.turnState.spent;
  const { maxSeconds, maxTokens } = config.budget;
  const milliseconds = left(
    config.stopSeconds * 1000 - protocol.milliseconds,
    purpose,
    FINAL_GRACE_MS,
  );
  const tokens = left(config.stopTokens - protocol.tokens, purpose, FINAL_GRACE_TOKENS);
  const budgetMilliseconds = millisecondsLeft(turn);
  const budgetTokens = (maxTokens ?? Number.POSITIVE_INFINITY) - protocol.tokens - content.tokens;
  return {
    milliseconds: Math.max(0, Math.min(milliseconds, budgetMilliseconds)),
    onTime:
      maxSeconds !== null && budgetMilliseconds <= milliseconds
        ? budgetStop('max_seconds', maxSeconds)
        : policyStop('time', config),
    tokens: Math.max(0, Math.min(tokens, budgetTokens)),
    onTokens:
      maxTokens !== null && budgetTokens <= tokens
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

import type { ProtocolConfig, TurnState } from '@orion/contracts';

/** How much of one limit a turn has used, in the limit's own unit. */
export type LimitUse = { readonly limit: string; readonly used: number; readonly most: number };

/** The limits of the shared policy, and those of the user's budget that are set, in the order in which a verdict has them. */
export function limitUse(
  { duplicates, progress, spent: { protocol, content } }: TurnState,
  { budget, ...config }: Pick<ProtocolConfig, LimitKeys>,
  elapsedMs: number,
): readonly LimitUse[] {
  const uses: readonly (readonly [string, number, number | null])[] = [
    ['maxTurns', protocol.calls + content.calls, budget.maxTurns],
    ['maxSeconds', elapsedMs / 1000, budget.maxSeconds],
    ['maxTokens', protocol.tokens + content.tokens, budget.maxTokens],
    ['maxDuplicateAttempts', duplicates, config.maxDuplicateAttempts],
    ['maxIdleToolPhases', progress.idlePhases, config.maxIdleToolPhases],
    ['stopSeconds', protocol.milliseconds / 1000, config.stopSeconds],
    ['stopTokens', protocol.tokens, config.stopTokens],
  ];
  return uses.flatMap(([limit, used, most]) => (most === null ? [] : [{ limit, used, most }]));
}

type LimitKeys =
  | 'budget'
  | 'maxDuplicateAttempts'
  | 'maxIdleToolPhases'
  | 'stopSeconds'
  | 'stopTokens';

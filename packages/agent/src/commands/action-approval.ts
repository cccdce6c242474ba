import { createAllowList } from '@orion/tool-runner';
import type { Approval, ApprovalRequest } from '@orion/tool-runner';

import type { Settings } from '../config/settings.ts';
import type { OrionOptions } from '../orion.ts';

const YES: Approval = { approved: true };

/**
 * Decides about calls of tools that do something that cannot be undone (R283): a pattern allows it, the settings allow
 * everything, or a person is asked. Where nobody can be asked it is refused.
 *
 * Throws USAGE for patterns that leave the program open.
 */
export function actionApproval(
  { review }: { readonly review?: OrionOptions['reviewAction'] },
  { allowCommands, approveCommands }: Pick<Settings, 'allowCommands' | 'approveCommands'>,
): (request: Pick<ApprovalRequest, 'action' | 'context'>) => Promise<Approval> {
  const list = createAllowList(allowCommands);
  /** What a person has refused, by turn: the same is not asked twice. */
  const refusals = new Map<string, Approval>();
  return async ({ action, context }) => {
    if (action === null) return YES;
    if (list.allows(action.command)) return YES;
    if (approveCommands === 'auto') return YES;
    if (approveCommands === 'never') return refused('the settings allow no command');
    if (review === undefined) return refused('no pattern allows it, and nobody can be asked');
    const asked = JSON.stringify([context.requestId, action.command]);
    const earlier = refusals.get(asked);
    if (earlier !== undefined) return earlier;
    const answer = await review(action, context.signal);
    if (!answer.approved) refusals.set(asked, answer);
    return answer;
  };
}

function refused(reason: string): Approval {
  return { approved: false, reason };
}

/** What a person should know of the patterns before a command runs. */
export function patternWarnings({
  allowCommands,
}: Pick<Settings, 'allowCommands'>): readonly string[] {
  return createAllowList(allowCommands).warnings;
}

import { createHash } from 'node:crypto';

import type { ApprovalAction, ProposedChange, WriteAction } from '@orion/contracts';
import type { ChangeProposal } from '@orion/core';

export function writeAction(intent: string, changes: readonly ChangeProposal[]): WriteAction {
  return { kind: 'write', intent, changes: changes.map(shownChange) };
}

/** What a decision names. */
export function hashOf(action: ApprovalAction): string {
  return createHash('sha256').update(JSON.stringify(action)).digest('hex');
}

/** Without the diff, which is content of files: an action is in the log of the turn, too. */
function shownChange(change: ChangeProposal): ProposedChange {
  const { target_file, real_path, operation, before, after, crlf, hard_link } = change;
  const { protected: isProtected } = change;
  return {
    target_file,
    real_path,
    operation,
    before,
    after,
    crlf,
    protected: isProtected,
    hard_link,
  };
}

/** What would happen, in a few words. */
export function actionWords(action: ApprovalAction): string {
  switch (action.kind) {
    case 'write':
      return action.changes
        .map(({ operation, target_file }) => `${operation} ${target_file}`)
        .join(', ');
    case 'command':
      return `run ${action.command}`;
    case 'mcp':
      return `call ${action.tool} of ${action.server}`;
    default:
      return action satisfies never;
  }
}

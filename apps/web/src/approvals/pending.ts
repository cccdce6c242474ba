import type { Approval, ApprovalAction, ApprovalsAnswer } from '@orion/contracts';
import type { UseQueryResult } from '@tanstack/react-query';

import { useRead } from '../api/context.tsx';

export const APPROVALS = '/api/approvals';
export const PENDING = `${APPROVALS}?state=pending`;

const EVERY_MS = 2000;

/** What waits for a person, newest first. */
export function usePending(): UseQueryResult<ApprovalsAnswer> {
  return useRead<ApprovalsAnswer>(PENDING, { every: EVERY_MS });
}

/** What would happen, in a few words: where more is needed to decide, it is shown whole. */
export function summaryOf({ action }: Pick<Approval, 'action'>): string {
  const words = wordsOf(action).trim().replaceAll(/\s+/gu, ' ');
  return words.length <= MOST_CHARACTERS ? words : `${words.slice(0, MOST_CHARACTERS)}…`;
}

const MOST_CHARACTERS = 120;

function wordsOf(action: ApprovalAction): string {
  switch (action.kind) {
    case 'write': {
      const [first] = action.changes;
      const { length } = action.changes;
      if (first === undefined) return 'Change nothing';
      return length === 1 ? `${first.operation} ${first.target_file}` : `Change ${length} files`;
    }
    case 'command':
      return `Run ${action.command}`;
    case 'mcp':
      return `Call ${action.tool} of ${action.server}`;
    default:
      return action satisfies never;
  }
}

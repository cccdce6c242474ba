import type { ApprovalPolicy } from '@orion/core';

import type { OrionOptions } from '../orion.ts';

/** Where a question cannot be stored, since no turn asks: whoever calls has decided, but not about a protected path. */
const CALLER: ApprovalPolicy = {
  kind: 'ask',
  review: ({ changes }) => {
    const path = changes.find((change) => change.protected)?.target_file;
    return Promise.resolve(
      path === undefined
        ? { approved: true }
        : { approved: false, reason: `${path} is a protected path; only a turn can ask for it.` },
    );
  },
};

/** `asked`: who is asked about the changes of a turn whose questions are stored. */
export function approvalOf(
  approve: OrionOptions['approve'],
  asked: ApprovalPolicy = CALLER,
): ApprovalPolicy {
  switch (approve) {
    case undefined:
    case 'auto':
      return { kind: 'auto' };
    case 'never':
      return { kind: 'never' };
    case 'ask':
      return asked;
    default:
      return { kind: 'ask', review: approve };
  }
}

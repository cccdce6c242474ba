import type { ApprovalPolicy } from '@orion/core';

import type { OrionOptions } from './orion.ts';

export function approvalOf(approve: OrionOptions['approve']): ApprovalPolicy {
  if (approve === undefined || approve === 'auto') return { kind: 'auto' };
  return approve === 'never' ? { kind: 'never' } : { kind: 'ask', review: approve };
}

import type { ReactNode } from 'react';

import { Title } from '../ui/title.tsx';
import { ApprovalCard } from './approval-card.tsx';

export function ApprovalView({ approvalId }: { readonly approvalId: string }): ReactNode {
  return (
    <>
      <Title>Approval</Title>
      <ApprovalCard approvalId={approvalId} />
    </>
  );
}

import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { announcer } from '../ui/announcer.ts';
import { counted, formatAge } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { summaryOf, usePending } from './pending.ts';

/** Approvals that are listed; further ones are counted. */
const MOST_LISTED = 20;

/** What waits for a person, as links; nothing where nothing does. */
export function NeedsYou(): ReactNode {
  const approvals = usePending().data?.approvals ?? [];
  if (approvals.length === 0) return null;
  return (
    <section aria-label="Needs you">
      <h2>Needs you</h2>
      <ul className="list">
        {approvals.slice(0, MOST_LISTED).map((approval) => (
          <li key={approval.approvalId}>
            <Link data-row href={`/a/${encodeURIComponent(approval.approvalId)}`}>
              <Name>{summaryOf(approval)}</Name>
            </Link>{' '}
            <span className="faint">asked {formatAge(Date.now() - approval.createdAt)} ago</span>
          </li>
        ))}
      </ul>
      {approvals.length > MOST_LISTED && (
        <p className="faint">
          {counted(approvals.length - MOST_LISTED, 'further approval')} not listed here.
        </p>
      )}
    </section>
  );
}

/** Interrupts a screen reader when a person becomes needed. Returns how many approvals wait. */
export function usePendingCount(): number {
  const count = usePending().data?.approvals.length ?? 0;
  useEffect(() => {
    if (count === 0) announcer.over('needs you');
    else
      announcer.sayAtOnce(
        'needs you',
        `${counted(count, 'approval')} ${count === 1 ? 'needs' : 'need'} you`,
      );
  }, [count]);
  return count;
}

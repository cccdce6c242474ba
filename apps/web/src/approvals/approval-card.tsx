import type { Approval, ApprovalAnswer, ApprovalDecision, DecideRequest } from '@orion/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { ApiError } from '../api/api.ts';
import { useRead, useServices } from '../api/context.tsx';
import { formatAge } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { Loaded, Problem } from '../ui/states.tsx';
import { ApprovalAction, canCoverTurn } from './approval-action.tsx';
import { NotWhole } from './not-whole.tsx';
import { APPROVALS, PENDING, summaryOf } from './pending.ts';
import { shownPart } from './shown-part.ts';

/** Buttons that have just appeared, or changed their meaning, take nothing for so long. */
const INERT_MS = 500;

/**
 * One approval, where it arose or in a view of its own.
 *
 * 1. A decision names the hash of what is on the screen, and a yes is taken only when all of it is there.
 * 2. It takes no focus, has no key, and no button that Enter would press.
 */
export function ApprovalCard({ approvalId }: { readonly approvalId: string }): ReactNode {
  const path = `${APPROVALS}/${encodeURIComponent(approvalId)}`;
  const [isOpen, setOpen] = useState(true);
  const [wasLate, setLate] = useState(false);
  const approval = useRead<ApprovalAnswer>(path, isOpen ? { every: 2000 } : {});
  const state = approval.data?.state ?? 'pending';
  const queries = useQueryClient();
  useEffect(() => {
    setOpen(state === 'pending');
    void queries.invalidateQueries({ queryKey: [PENDING] });
  }, [queries, state]);
  return (
    <section
      className="card approval"
      aria-label={
        approval.data === undefined ? 'Approval' : `Approval: ${summaryOf(approval.data)}`
      }
    >
      <Loaded query={approval}>
        {(answer) => (
          <>
            <h2 data-approval tabIndex={-1}>
              <Name>{summaryOf(answer)}</Name>
            </h2>
            {answer.state === 'pending' ? (
              <Open key={answer.hash} answer={answer} path={path} late={() => setLate(true)} />
            ) : (
              <Closed answer={answer} wasLate={wasLate} />
            )}
          </>
        )}
      </Loaded>
    </section>
  );
}

function Open({
  answer,
  path,
  late,
}: {
  readonly answer: ApprovalAnswer;
  readonly path: string;
  /** Somebody else had decided. */
  readonly late: () => void;
}): ReactNode {
  const { api } = useServices();
  const queries = useQueryClient();
  const [reason, setReason] = useState('');
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Error | null>(null);
  const isInert = useInert(answer.diffs);
  const decide = async (decision: ApprovalDecision): Promise<void> => {
    setSending(true);
    setProblem(null);
    const given = reason.trim();
    const body: DecideRequest = {
      decision,
      hash: answer.hash,
      ...(decision === 'no' && given !== '' ? { reason: given } : {}),
    };
    try {
      await api.call<Approval>(path, { method: 'POST', body });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'APPROVAL_DECIDED') late();
      else setProblem(error as Error);
    } finally {
      setSending(false);
    }
    await queries.invalidateQueries({
      predicate: ({ queryKey: [read] }) => String(read).startsWith(APPROVALS),
    });
  };
  const shown = shownPart(answer);
  const takesYes = !isSending && shown === 'whole';
  const isStale = problem instanceof ApiError && problem.code === 'APPROVAL_STALE';
  return (
    <>
      <ApprovalAction isOpen action={answer.action} diffs={answer.diffs} />
      <p className="faint">
        Your yes applies to exactly this, which has the hash{' '}
        <code className="hash">{answer.hash}</code>. Without an answer within{' '}
        {formatAge(answer.expiresAt - Date.now())}, it counts as a no.
      </p>
      {shown !== 'whole' && <NotWhole approval={answer} shown={shown} />}
      {problem !== null && <Problem error={problem} />}
      <div inert={isInert}>
        <div className="actions">
          <button type="button" disabled={!takesYes || isStale} onClick={() => void decide('yes')}>
            Yes: <Name>{summaryOf(answer)}</Name>
          </button>
          {canCoverTurn(answer) && (
            <button
              type="button"
              disabled={!takesYes || isStale}
              onClick={() => void decide('turn')}
            >
              Yes, and every later write of this turn
            </button>
          )}
        </div>
        <label>
          Reason for a no (the model reads it)
          <input
            value={reason}
            dir="auto"
            maxLength={1000}
            onChange={({ target }) => setReason(target.value)}
          />
        </label>
        <div className="actions">
          <button type="button" disabled={isSending} onClick={() => void decide('no')}>
            No
          </button>
        </div>
      </div>
    </>
  );
}

const OUTCOMES = {
  yes: 'Approved.',
  turn: 'Approved, with every later write of the turn.',
  no: 'Rejected.',
  expired: 'Nobody decided in time, which counted as a no.',
  withdrawn:
    'It was withdrawn: the turn ended, or what was shown is not what would happen any more. If it is still wanted, you are asked again.',
} as const;

function Closed({
  answer,
  wasLate,
}: {
  readonly answer: ApprovalAnswer;
  readonly wasLate: boolean;
}): ReactNode {
  if (answer.state === 'pending') return null;
  return (
    <>
      {wasLate && <p>It had been decided before your answer arrived.</p>}
      <p>
        <strong>{OUTCOMES[answer.state]}</strong>{' '}
        {answer.reason !== null && (
          <>
            Reason: <Name>{answer.reason}</Name>.
          </>
        )}
      </p>
      <details>
        <summary>What it was about</summary>
        <ApprovalAction isOpen={false} action={answer.action} diffs={answer.diffs} />
      </details>
      <p>
        <Link href={`/c/${encodeURIComponent(answer.conversationId)}`}>Its conversation</Link>
      </p>
    </>
  );
}

/** For half a second after something appeared that a click could be meant for. */
function useInert(shown: unknown): boolean {
  const [settled, settle] = useState<unknown>(null);
  useEffect(() => {
    const timer = setTimeout(() => settle(shown), INERT_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return settled !== shown;
}

import type { Approval } from '@orion/contracts';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { BASE_PATH } from '../api/base-path.ts';
import { Warning } from './approval-action.tsx';
import { APPROVALS } from './pending.ts';

const WHY = {
  beginning: 'The difference, or a line in it, is too long: only its beginning is here.',
  nothing: 'The difference was not stored.',
} as const;

/** Why this page takes no yes, where the new text is, and how else a yes can be given. */
export function NotWhole({
  approval: { approvalId, turnId, sessionId, hash },
  shown,
}: {
  readonly approval: Pick<Approval, 'approvalId' | 'turnId' | 'sessionId' | 'hash'>;
  readonly shown: keyof typeof WHY;
}): ReactNode {
  return (
    <section aria-label="Not shown whole">
      <Warning>
        {WHY[shown]} This page takes no yes to what it has not shown. You can say no, and ask for
        smaller steps.
      </Warning>
      {sessionId !== null && (
        <p>
          <Link href={`/w/${encodeURIComponent(sessionId)}?turn=${encodeURIComponent(turnId)}`}>
            The whole new text
          </Link>
        </p>
      )}
      <p>
        If you have checked it by other means, say yes in a terminal that has the server’s token:
      </p>
      <pre className="command">{commandOf(approvalId, hash)}</pre>
    </section>
  );
}

function commandOf(approvalId: string, hash: string): string {
  const url = `${location.origin}${BASE_PATH}${APPROVALS}/${encodeURIComponent(approvalId)}`;
  const body = JSON.stringify({ decision: 'yes', hash });
  return [
    `curl -H "Authorization: Bearer $ORION_SERVER_TOKEN" -H 'Content-Type: application/json'`,
    `-d '${body}' '${url}'`,
  ].join(' \\\n  ');
}

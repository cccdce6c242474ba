import type { StatusAnswer, UploadsAnswer } from '@orion/contracts';
import type { ReactNode } from 'react';

import { usePendingCount } from '../approvals/needs-you.tsx';
import { useRead } from '../api/context.tsx';
import { RUNNING } from '../now/now-view.tsx';
import type { Turns } from '../now/now-view.tsx';
import { counted } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { ContactLine } from './contact-line.tsx';
import { SESSIONS } from '../writes/open-session.ts';
import { statusWords } from './status-words.ts';

const EVERY_MS = 5000;

/** Above every view: whether the server answers, what runs, and what is unfinished. */
export function StatusLine({
  showKeys,
  signOut,
}: {
  readonly showKeys: () => void;
  readonly signOut: () => void;
}): ReactNode {
  const turns = useRead<Turns>(RUNNING, { every: EVERY_MS });
  const sessions = useRead<UploadsAnswer>(SESSIONS, { every: EVERY_MS });
  const status = useRead<StatusAnswer>('/api/status');
  const isLost = turns.error !== null;
  const running = turns.data?.turns.length ?? 0;
  const unfinished =
    sessions.data?.sessions.filter(({ status }) => status !== 'in_use').length ?? 0;
  const pending = usePendingCount();
  const contact = isLost
    ? 'no contact with the server'
    : turns.data === undefined
      ? 'connecting'
      : 'connected';
  return (
    <header className="status-line" data-lost={isLost}>
      <span>
        {status.data !== undefined && (
          <>
            <Place status={status.data} /> ·{' '}
          </>
        )}
        {statusWords(contact, { running, pending, unfinished })}
      </span>
      <span className="actions">
        <button type="button" onClick={showKeys}>
          Keys
        </button>
        <button type="button" onClick={signOut}>
          Sign out
        </button>
      </span>
      <ContactLine query={turns} every={EVERY_MS} />
    </header>
  );
}

/** Where everything happens that the page shows. */
function Place({
  status: { folder, projects },
}: {
  readonly status: Pick<StatusAnswer, 'folder' | 'projects'>;
}): ReactNode {
  return folder === null ? counted(projects?.length ?? 0, 'project') : <Name>{folder}</Name>;
}

import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { SessionView } from '../turn/turn-view.ts';
import { useAnnounced } from '../ui/announcements.tsx';
import { Name } from '../ui/name.tsx';
import { Receipt } from './receipt.tsx';
import { isAtWork, sessionWords } from './session-words.ts';
import { Watermarks } from './watermarks.tsx';

/** A write where it happened, in a conversation or a list. */
export function SessionCard({
  turnId,
  session,
  isOver,
}: {
  readonly turnId: string;
  readonly session: SessionView;
  /** The turn is. */
  readonly isOver: boolean;
}): ReactNode {
  const words = sessionWords({ ...session, isOver });
  useAnnounced(session.sessionId, `${session.targetFile}: ${words}`);
  return (
    <article className="card" aria-label="Write">
      <header>
        <Link data-row href={`/w/${session.sessionId}?turn=${turnId}`}>
          <Name>{session.targetFile}</Name>
        </Link>{' '}
        <span>{session.operation}</span>{' '}
        <span className="state" data-live={isAtWork({ ...session, isOver })}>
          {words}
        </span>
      </header>
      {session.receipt === null ? (
        <Watermarks session={session} />
      ) : (
        <Receipt receipt={session.receipt} />
      )}
    </article>
  );
}

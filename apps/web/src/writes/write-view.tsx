import type { OpenUpload, UploadAnswer, WrittenUpload } from '@orion/contracts';
import { useMemo } from 'react';
import type { ReactNode } from 'react';
import { useSearchParams } from 'wouter';

import { ChangeActions } from '../changes/change-actions.tsx';
import { ApprovalCard } from '../approvals/approval-card.tsx';
import { useRead } from '../api/context.tsx';
import { useTurn } from '../turn/use-turn.ts';
import type { SessionView } from '../turn/turn-view.ts';
import { counted, formatBytes, formatTime } from '../ui/format.ts';
import { Loaded } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';
import { CancelTurn } from '../turn/cancel-turn.tsx';
import { ConnectionLine } from '../turn/connection-line.tsx';
import { HeldUp } from './held-up.tsx';
import { LiveFile } from './live-file.tsx';
import { openSessionWords } from './open-session.ts';
import { Receipt } from './receipt.tsx';
import { SessionActions } from './session-actions.tsx';
import { isAtWork, isOpen, sessionWords } from './session-words.ts';
import { useTurnOfSession } from './use-turn-of-session.ts';
import { Watermarks } from './watermarks.tsx';

/** One write: its text while it arrives, and what can be done with it. */
export function WriteView({ sessionId }: { readonly sessionId: string }): ReactNode {
  const [search] = useSearchParams();
  const turnId = useTurnOfSession(sessionId, search.get('turn'));
  return turnId === null ? (
    <StoredWrite sessionId={sessionId} />
  ) : (
    <TurnWrite sessionId={sessionId} turnId={turnId} />
  );
}

function TurnWrite({
  sessionId,
  turnId,
}: {
  readonly sessionId: string;
  readonly turnId: string;
}): ReactNode {
  const { view, connection } = useTurn(turnId);
  const session = view.sessions.get(sessionId);
  const isOver = view.end !== null;
  if (session === undefined) {
    return connection.kind === 'over' || connection.kind === 'refused' ? (
      <StoredWrite sessionId={sessionId} />
    ) : (
      <>
        <Title>Write</Title>
        <ConnectionLine turnId={turnId} />
        <p>Waiting for the turn that writes it…</p>
      </>
    );
  }
  return (
    <>
      <Title isName>{session.targetFile}</Title>
      <p>
        {session.operation}{' '}
        <span className="state" data-live={isAtWork({ ...session, isOver })}>
          {sessionWords({ ...session, isOver })}
        </span>{' '}
        {!isOver && <CancelTurn turnId={turnId} />}
      </p>
      <ConnectionLine turnId={turnId} />
      {view.items.map((item) =>
        item.kind === 'approval' && item.sessionId === sessionId && item.outcome === null ? (
          <ApprovalCard key={item.approvalId} approvalId={item.approvalId} />
        ) : null,
      )}
      <HeldUp session={session} items={view.items} />
      {isOver && (session.paused !== null || isOpen(session)) && (
        <StoredActions sessionId={sessionId} />
      )}
      <Watermarks session={session} />
      <Joined seams={session.seams} setAside={session.setAside} />
      {session.receipt !== null && <Receipt receipt={session.receipt} />}
      <TurnFile sessionId={sessionId} turnId={turnId} session={session} />
    </>
  );
}

function TurnFile({
  sessionId,
  turnId,
  session,
}: {
  readonly sessionId: string;
  readonly turnId: string;
  readonly session: SessionView;
}): ReactNode {
  const seams = useMemo(() => session.seams.map(({ line }) => line), [session.seams]);
  return (
    <LiveFile
      sessionId={sessionId}
      turnId={turnId}
      received={session.received}
      isWritten={session.receipt !== null}
      synced={session.synced}
      saved={session.saved ?? session.synced}
      seams={seams}
    />
  );
}

/** Where text was joined, and what turned out not to belong to the file. */
function Joined({ seams, setAside }: Pick<SessionView, 'seams' | 'setAside'>): ReactNode {
  if (seams.length + setAside.length === 0) return null;
  return (
    <ul className="faint">
      {seams.map((seam, index) => (
        <li key={`seam ${index}`}>
          Joined at line {seam.line}: {seam.status} by {seam.via},{' '}
          {counted(seam.lines_dropped, 'repeated line')} left out.
        </li>
      ))}
      {setAside.map(({ at, bytes }, index) => (
        <li key={`aside ${index}`}>
          {formatBytes(bytes)} set aside after byte {at}: they did not belong to the file.
        </li>
      ))}
    </ul>
  );
}

/** A session that no turn writes now. */
function StoredWrite({ sessionId }: { readonly sessionId: string }): ReactNode {
  const stored = useRead<UploadAnswer>(`/api/write-sessions/${encodeURIComponent(sessionId)}`, {
    every: 1000,
  });
  return (
    <Loaded query={stored} title="Write">
      {(session) => (
        <>
          <Title isName>{session.target_file ?? sessionId}</Title>
          {isDone(session) ? (
            session.receipt === null ? (
              <Written session={session} />
            ) : (
              <Receipt receipt={session.receipt} />
            )
          ) : (
            <>
              <p>
                {session.operation} <span className="state">{openSessionWords(session)}</span>
                {session.recovered_at !== undefined && (
                  <span className="faint">
                    {' '}
                    recovered {formatTime(Date.parse(session.recovered_at), Date.now())}
                  </span>
                )}
              </p>
              <SessionActions session={session} />
              <Joined seams={session.seams} setAside={[]} />
              <StoredFile session={session} />
            </>
          )}
        </>
      )}
    </Loaded>
  );
}

function StoredFile({ session }: { readonly session: OpenUpload }): ReactNode {
  const { session_id: sessionId, uploaded, bytes, saved_bytes: synced } = session;
  // The same array while the lines are the same: each answer of the server is a new object.
  const lines = session.seams.map(({ line }) => line).join(' ');
  const seams = useMemo(() => lines.split(' ').map(Number), [lines]);
  return (
    <LiveFile
      sessionId={sessionId}
      turnId={null}
      received={bytes}
      isWritten={false}
      synced={synced}
      // What a model's session shows lies in its file; an upload may still be in memory.
      saved={uploaded ? synced : bytes}
      seams={lines === '' ? NO_SEAMS : seams}
    />
  );
}

const NO_SEAMS: readonly number[] = [];

function isDone(session: UploadAnswer): session is WrittenUpload {
  return session.status === 'done';
}

/** By another process, or long ago: its receipt is not kept, and the change is. */
function Written({
  session: { session_id: id, target_file: target, sha256 },
}: {
  readonly session: WrittenUpload;
}): ReactNode {
  return (
    <section aria-label="Written">
      <p>The file is written. Its receipt is not kept here.</p>
      <p className="faint">
        SHA-256 <code className="hash">{sha256}</code>
      </p>
      <ChangeActions changeId={id} what={target} status="in_effect" />
    </section>
  );
}

function StoredActions({ sessionId }: { readonly sessionId: string }): ReactNode {
  const path = `/api/write-sessions/${encodeURIComponent(sessionId)}`;
  // The turn may hold it for a moment after its last event.
  const stored = useRead<UploadAnswer>(path, { every: 1000 });
  return (
    <Loaded query={stored}>
      {(session) => (isDone(session) ? null : <SessionActions session={session} />)}
    </Loaded>
  );
}

import type { ConversationAnswer, ShownMessage } from '@orion/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';

import { ApiError } from '../api/api.ts';
import { useRead } from '../api/context.tsx';
import { RUNNING } from '../now/now-view.tsx';
import type { Turns } from '../now/now-view.tsx';
import { CancelTurn } from '../turn/cancel-turn.tsx';
import { ConnectionLine } from '../turn/connection-line.tsx';
import { useTurn } from '../turn/use-turn.ts';
import type { TurnEnd } from '../turn/turn-view.ts';
import { useAnnounced } from '../ui/announcements.tsx';
import { counted } from '../ui/format.ts';
import { Loaded } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';
import { Composer } from './composer.tsx';
import type { SentTurn } from './composer.tsx';
import { StoredMessage, UserMessage } from './message.tsx';
import { TurnItems } from './turn-items.tsx';

/** Messages of the history that are drawn at once. */
const MOST_MESSAGES = 300;

/** `createdAt` is that of a turn which this page found running. */
type ShownTurn = SentTurn & { readonly createdAt?: number };

/** A conversation: what is stored of it, and the turns of this page with everything that happens in them. */
export function ConversationView({
  conversationId,
}: {
  readonly conversationId: string;
}): ReactNode {
  const [turns, setTurns] = useState<readonly ShownTurn[]>([]);
  const queries = useQueryClient();
  const running = useRead<Turns>(RUNNING, { every: 3000 });
  // A turn that another tab, a script or the page before its reload has begun.
  const other = running.data?.turns.find(
    (turn) =>
      turn.conversationId === conversationId && !turns.some(({ turnId }) => turnId === turn.turnId),
  );
  const { turnId: otherId, createdAt = 0 } = other ?? {};
  useEffect(() => {
    if (otherId === undefined) return;
    setTurns((before) => [...before, { turnId: otherId, content: '', createdAt }]);
  }, [otherId, createdAt]);
  const last = turns.at(-1);
  const add = (turn: SentTurn): void => {
    setTurns((before) => [...before, turn]);
    void queries.invalidateQueries({ queryKey: [RUNNING] });
  };
  return (
    <>
      <History conversationId={conversationId} drawnSince={turns[0]?.createdAt ?? null} />
      <div role="log" aria-label="Turns" aria-live="off">
        {turns.map((turn) => (
          <Turn key={turn.turnId} turn={turn} />
        ))}
      </div>
      {last === undefined ? (
        <Composer conversationId={conversationId} isBusy={false} sent={add} />
      ) : (
        <ComposerAfter
          key="composer"
          turnId={last.turnId}
          conversationId={conversationId}
          sent={add}
        />
      )}
    </>
  );
}

function ComposerAfter({
  turnId,
  ...rest
}: {
  readonly turnId: string;
  readonly conversationId: string;
  readonly sent: (turn: SentTurn) => void;
}): ReactNode {
  const { view, connection } = useTurn(turnId);
  return <Composer {...rest} isBusy={view.end === null && connection.kind !== 'refused'} />;
}

/** As it was when the page was opened: later turns are drawn from their events. */
function History({
  conversationId,
  drawnSince,
}: {
  readonly conversationId: string;
  /** When the turn began that follows, if the page found it running. */
  readonly drawnSince: number | null;
}): ReactNode {
  const [before, setBefore] = useState<number | null>(null);
  const query = before === null ? '' : `?before=${before}`;
  const stored = useRead<ConversationAnswer>(
    `/api/conversations/${encodeURIComponent(conversationId)}${query}`,
  );
  if (stored.error instanceof ApiError && stored.error.status === 404)
    return <Title>New conversation</Title>;
  return (
    <Loaded query={stored} title="Conversation">
      {({ title, history: all, from, updatedAt }) => {
        const isDrawnBelow = before === null && drawnSince !== null && updatedAt >= drawnSince;
        const history = isDrawnBelow ? upToQuestion(all) : all;
        const hidden = Math.max(0, history.length - MOST_MESSAGES);
        return (
          <>
            <Title isName>{title}</Title>
            {from + hidden > 0 && (
              <p className="faint">
                {counted(from + hidden, 'earlier message')} {from + hidden === 1 ? 'is' : 'are'} not
                drawn.{' '}
                <button type="button" onClick={() => setBefore(from + hidden)}>
                  Earlier
                </button>
              </p>
            )}
            {history.slice(hidden).map((message, index) => (
              <StoredMessage key={from + hidden + index} message={message} />
            ))}
            {before !== null && (
              <button type="button" onClick={() => setBefore(null)}>
                To the end
              </button>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** Without what a turn has stored since: its events show that. */
function upToQuestion(history: readonly ShownMessage[]): readonly ShownMessage[] {
  return history.slice(0, history.findLastIndex(({ role }) => role === 'user') + 1);
}

function Turn({ turn: { turnId, content } }: { readonly turn: SentTurn }): ReactNode {
  const { view } = useTurn(turnId);
  useAnnounced(turnId, view.end === null ? 'The turn is running' : `The turn: ${view.end.status}`);
  return (
    <article className="turn" aria-label="Turn" aria-busy={view.end === null}>
      {content !== '' && <UserMessage content={content} />}
      <ConnectionLine turnId={turnId} />
      <TurnItems turnId={turnId} view={view} />
      {view.end === null ? <CancelTurn turnId={turnId} /> : <End end={view.end} />}
    </article>
  );
}

function End({ end: { status, stopReason } }: { readonly end: TurnEnd }): ReactNode {
  if (status === 'complete') return null;
  return (
    <p className="notice">
      The turn ended: {status}
      {stopReason !== null && ` (${stopReason})`}.
    </p>
  );
}

import type { ConversationAnswer } from '@orion/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import type { ReactNode } from 'react';
import type { UseQueryResult } from '@tanstack/react-query';

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
import { StoredMessage, UserMessage } from './message.tsx';
import { drawnPart, endOf, NO_TURNS, withAnswer, withTurn } from './stored-part.ts';
import type { FoundTurn, Newest, SentTurn, ShownTurn } from './stored-part.ts';
import { TurnItems } from './turn-items.tsx';

/** Messages of the history that are drawn at once. */
const MOST_MESSAGES = 300;

/** A conversation: what is stored of it, and the turns of this page with everything that happens in them. */
export function ConversationView({
  conversationId,
}: {
  readonly conversationId: string;
}): ReactNode {
  const [before, setDrawn] = useState(NO_TURNS);
  const path = `/api/conversations/${encodeURIComponent(conversationId)}`;
  const newest = newestOf(useRead<ConversationAnswer>(path));
  const drawn = withAnswer(before, newest);
  if (drawn !== before) setDrawn(drawn);
  const { turns, end } = drawn;
  const queries = useQueryClient();
  const running = useRead<Turns>(RUNNING, { every: 3000 });
  // A turn that another tab, a script or the page before its reload has begun.
  const other = running.data?.turns.find(
    (turn) =>
      turn.conversationId === conversationId && !turns.some(({ turnId }) => turnId === turn.turnId),
  );
  const { turnId: otherId, createdAt = 0 } = other ?? {};
  const addOther = useEffectEvent((turn: FoundTurn) => {
    setDrawn((now) => withTurn(now, turn, newest));
    // Its question may have been stored since.
    if (turns.length === 0) void queries.invalidateQueries({ queryKey: [path] });
  });
  useEffect(() => {
    if (otherId !== undefined) addOther({ turnId: otherId, content: '', createdAt });
  }, [otherId, createdAt]);
  const add = (turn: SentTurn): void => {
    setDrawn((now) => withTurn(now, turn, newest));
    // What is known may be older than a turn that was begun by an earlier attempt.
    if (turn.isRepeated) void queries.invalidateQueries({ queryKey: [path] });
    void queries.invalidateQueries({ queryKey: [RUNNING] });
  };
  return (
    <>
      <History path={path} end={end} />
      <div role="log" aria-label="Turns" aria-live="off">
        {turns.map((turn) => (
          <Turn key={turn.turnId} turn={turn} />
        ))}
      </div>
      <Composer
        conversationId={conversationId}
        lastTurnId={turns.at(-1)?.turnId ?? null}
        end={endOf(newest)}
        sent={add}
      />
    </>
  );
}

/** An answer that is being read again may be older than the turns. */
function newestOf({ data, error, isFetching }: UseQueryResult<ConversationAnswer>): Newest {
  if (isFetching) return undefined;
  return error instanceof ApiError && error.status === 404 ? null : data;
}

/** What is stored of it, up to the turns that are drawn from their events. */
function History({
  path,
  end,
}: {
  readonly path: string;
  /** The position of what is not drawn here any more. */
  readonly end: number | null;
}): ReactNode {
  const [before, setBefore] = useState<number | null>(null);
  const query = before === null ? '' : `?before=${before}`;
  const stored = useRead<ConversationAnswer>(`${path}${query}`);
  if (stored.error instanceof ApiError && stored.error.status === 404)
    return <Title>New conversation</Title>;
  return (
    <Loaded query={stored} title="Conversation">
      {(answer) => {
        const { first, history } = drawnPart(answer, end, MOST_MESSAGES);
        return (
          <>
            <Title isName>{answer.title}</Title>
            {first > 0 && (
              <p className="faint">
                {counted(first, 'earlier message')} {first === 1 ? 'is' : 'are'} not drawn.{' '}
                <button type="button" onClick={() => setBefore(first)}>
                  Earlier
                </button>
              </p>
            )}
            {history.map((message, index) => (
              <StoredMessage key={first + index} message={message} />
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

function Turn({ turn: { turnId, content } }: { readonly turn: ShownTurn }): ReactNode {
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

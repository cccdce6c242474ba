import type { ServedTurn, UploadsAnswer } from '@orion/contracts';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { NeedsYou } from '../approvals/needs-you.tsx';
import { useRead } from '../api/context.tsx';
import { TurnItems } from '../conversations/turn-items.tsx';
import { CancelTurn } from '../turn/cancel-turn.tsx';
import { ConnectionLine } from '../turn/connection-line.tsx';
import { useTurn } from '../turn/use-turn.ts';
import { formatAge } from '../ui/format.ts';
import { Empty, Loaded } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';
import { SESSIONS } from '../writes/open-session.ts';
import { SessionList } from '../writes/writes-view.tsx';

export const RUNNING = '/api/turns?state=running';
export type Turns = { readonly turns: readonly ServedTurn[] };

/** Turns that are drawn whole; the others are lines. */
const MOST_TURNS = 4;

/** What is going on: what needs somebody, what runs, what was left unfinished. */
export function NowView(): ReactNode {
  const turns = useRead<Turns>(RUNNING, { every: 2000 });
  const sessions = useRead<UploadsAnswer>(SESSIONS, { every: 2000 });
  const unfinished = sessions.data?.sessions.filter(({ status }) => status !== 'in_use') ?? [];
  const isQuiet = turns.data?.turns.length === 0 && unfinished.length === 0;
  return (
    <>
      <Title>Now</Title>
      {isQuiet && (
        <Empty command={'orion run "Write a README for this project"'}>
          Nothing is running, and nothing is unfinished. Write a message under{' '}
          <Link href="/c">Conversations</Link>, or begin in a terminal:
        </Empty>
      )}
      <NeedsYou />
      <Loaded query={turns}>
        {({ turns: running }) =>
          running.length > 0 && (
            <section aria-label="Running">
              <h2>Running</h2>
              {running.slice(0, MOST_TURNS).map((turn) => (
                <RunningTurn key={turn.turnId} turn={turn} />
              ))}
              {running.slice(MOST_TURNS).map(({ turnId, conversationId }) => (
                <p key={turnId}>
                  <Link data-row href={`/c/${encodeURIComponent(conversationId)}`}>
                    {turnId}
                  </Link>
                </p>
              ))}
            </section>
          )
        }
      </Loaded>
      <Loaded query={sessions}>
        {() =>
          unfinished.length > 0 && (
            <section aria-label="Unfinished">
              <h2>Unfinished</h2>
              <SessionList sessions={unfinished} />
            </section>
          )
        }
      </Loaded>
    </>
  );
}

function RunningTurn({ turn }: { readonly turn: ServedTurn }): ReactNode {
  const { view } = useTurn(turn.turnId);
  return (
    <article className="turn">
      <header>
        <Link data-row href={`/c/${encodeURIComponent(turn.conversationId)}`}>
          Open the conversation
        </Link>{' '}
        <span className="faint">began {formatAge(Date.now() - turn.createdAt)} ago</span>{' '}
        <CancelTurn turnId={turn.turnId} />
      </header>
      <ConnectionLine turnId={turn.turnId} />
      <TurnItems turnId={turn.turnId} view={{ ...view, items: view.items.slice(-6) }} />
    </article>
  );
}

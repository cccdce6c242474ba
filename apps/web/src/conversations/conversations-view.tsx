import type { ConversationsAnswer } from '@orion/contracts';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { useRead } from '../api/context.tsx';
import { counted, formatTime } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { Pager } from '../ui/pager.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';

/** All conversations, newest first, a page at a time. */
export function ConversationsView(): ReactNode {
  const [before, setBefore] = useState<string | null>(null);
  const [wanted, setWanted] = useState('');
  const query = before === null ? '' : `?before=${encodeURIComponent(before)}`;
  const list = useRead<ConversationsAnswer>(`/api/conversations${query}`);
  return (
    <>
      <Title>Conversations</Title>
      <p>
        <Link href={`/c/${crypto.randomUUID()}`} className="button strong">
          New conversation
        </Link>
      </p>
      <Loaded query={list}>
        {({ conversations, next }) => (
          <>
            <label>
              Search the titles on this page
              <input
                type="search"
                value={wanted}
                onChange={(event) => setWanted(event.target.value)}
              />
            </label>
            {conversations.length === 0 && (
              <Empty command='orion run "Hello"'>
                What you and a model say to each other is listed here.
              </Empty>
            )}
            <ul className="list">
              {conversations
                .filter(({ title }) => title.toLowerCase().includes(wanted.toLowerCase()))
                .map(({ conversationId, title, messages, updatedAt }) => (
                  <li key={conversationId}>
                    <Link data-row href={`/c/${encodeURIComponent(conversationId)}`}>
                      <Name>{title === '' ? conversationId : title}</Name>
                    </Link>{' '}
                    <span className="faint">
                      {counted(messages, 'message')}, {formatTime(updatedAt, Date.now())}
                    </span>
                  </li>
                ))}
            </ul>
            <Pager before={before} next={next} go={setBefore} />
          </>
        )}
      </Loaded>
    </>
  );
}

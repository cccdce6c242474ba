import type { OpenUpload, UploadsAnswer } from '@orion/contracts';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { useRead } from '../api/context.tsx';
import { counted, formatAge, formatBytes } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';
import { openSessionWords, SESSIONS } from './open-session.ts';

/** All writes that are not finished. */
export function WritesView(): ReactNode {
  const sessions = useRead<UploadsAnswer>(SESSIONS, { every: 2000 });
  return (
    <>
      <Title>Writes</Title>
      <Loaded query={sessions}>
        {({ sessions: found, total }) =>
          found.length === 0 ? (
            <Empty command="orion list-sessions">
              Every write is finished. Files that are being written, and those that a crash left
              behind, are listed here.
            </Empty>
          ) : (
            <>
              <SessionList sessions={found} />
              {total > found.length && (
                <p className="faint">{counted(total - found.length, 'older write')} not listed.</p>
              )}
            </>
          )
        }
      </Loaded>
    </>
  );
}

export function SessionList({ sessions }: { readonly sessions: readonly OpenUpload[] }): ReactNode {
  return (
    <ul className="list">
      {sessions.map((session) => (
        <li key={session.session_id}>
          <Link data-row href={`/w/${session.session_id}`}>
            <Name>{session.target_file ?? session.session_id}</Name>
          </Link>{' '}
          <span className="state">{openSessionWords(session)}</span>{' '}
          <span className="faint">
            {formatBytes(session.saved_bytes)} saved, {counted(session.lines, 'line')}, last change{' '}
            {formatAge(session.age_ms)} ago
          </span>
        </li>
      ))}
    </ul>
  );
}

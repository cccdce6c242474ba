import type { TracedTurnsAnswer } from '@orion/contracts';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { useRead } from '../api/context.tsx';
import { formatAge, formatTime } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { Pager } from '../ui/pager.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';

/** The turns that were recorded, newest first. */
export function TracesView(): ReactNode {
  const [before, setBefore] = useState<number | null>(null);
  const turns = useRead<TracedTurnsAnswer>(
    before === null ? '/api/traces' : `/api/traces?before=${before}`,
  );
  return (
    <>
      <Title>Traces</Title>
      <Loaded query={turns}>
        {({ turns: found, next }) => (
          <>
            {found.length === 0 && (
              <Empty command="orion trace list">What a turn did, and when, is recorded here.</Empty>
            )}
            <ul className="list">
              {found.map(({ requestId, task, startedAt, status, durationMs }) => (
                <li key={requestId}>
                  <Link data-row href={`/t/${encodeURIComponent(requestId)}`}>
                    <Name>{task === null || task === '' ? requestId : task}</Name>
                  </Link>{' '}
                  <span className="state">{status ?? 'no end recorded'}</span>{' '}
                  <span className="faint">
                    {formatTime(startedAt, Date.now())}
                    {durationMs !== null && `, took ${formatAge(durationMs)}`}
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

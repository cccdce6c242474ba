import type { ChangesAnswer } from '@orion/contracts';
import { useState } from 'react';
import type { ReactNode } from 'react';

import { useRead } from '../api/context.tsx';
import { counted, formatTime } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { Pager } from '../ui/pager.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';
import { ChangeActions, CHANGES } from './change-actions.tsx';

/** Everything that can be undone, newest first. */
export function ChangesView(): ReactNode {
  const [before, setBefore] = useState<string | null>(null);
  const query = before === null ? '' : `?before=${encodeURIComponent(before)}`;
  const changes = useRead<ChangesAnswer>(`${CHANGES}${query}`, { every: 5000 });
  return (
    <>
      <Title>Changes</Title>
      <Loaded query={changes}>
        {({ changes: found, next }) => (
          <>
            {found.length === 0 && (
              <Empty command="orion undo">
                Every file that Orion changes is listed here, with what was there before.
              </Empty>
            )}
            <ul className="list">
              {found.map(({ change_id: id, created_at: at, status, files, foreign }) => (
                <li key={id} className="change">
                  <div className="what">
                    {files.map(({ target_file: file, operation }, index) => (
                      <div key={index}>
                        <Name>{file}</Name> <span>{operation}</span>
                      </div>
                    ))}
                    <span className="state">{status === 'undone' ? 'undone' : 'in effect'}</span>{' '}
                    <span className="faint">
                      {formatTime(Date.parse(at), Date.now())}
                      {foreign && ', came with the folder'}
                    </span>
                  </div>
                  <ChangeActions
                    changeId={id}
                    what={nameOf(files)}
                    status={status}
                    time={formatTime(Date.parse(at), Date.now())}
                  />
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

function nameOf(files: readonly { readonly target_file: string }[]): string {
  const [first] = files;
  return files.length === 1 && first !== undefined
    ? first.target_file
    : counted(files.length, 'file');
}

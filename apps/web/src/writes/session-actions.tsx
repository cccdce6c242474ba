import { visibleName } from '@orion/contracts';
import type { OpenUpload } from '@orion/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';

import { useServices } from '../api/context.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { counted, formatBytes } from '../ui/format.ts';
import { Name } from '../ui/name.tsx';
import { saveFile } from '../ui/save-file.ts';
import { Problem } from '../ui/states.tsx';
import { pauseWords, waysOn } from './pause-words.ts';
import { RecoverDialog } from './recover-dialog.tsx';
import { SESSIONS } from './open-session.ts';

type Asked = 'recover' | 'discard' | null;

/** Why a session waits, and what can be done with it: each says first what will happen to the file. */
export function SessionActions({ session }: { readonly session: OpenUpload }): ReactNode {
  const { api } = useServices();
  const queries = useQueryClient();
  const [asked, ask] = useState<Asked>(null);
  const [problem, setProblem] = useState<Error | null>(null);
  const path = `/api/write-sessions/${encodeURIComponent(session.session_id)}`;
  const target = session.target_file ?? session.session_id;
  const { canWrite, canDiscard, hasConflict, command } = waysOn(session);
  const after = (): Promise<void> =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [read] }) => String(read).startsWith(SESSIONS),
    });
  const copyOut = async (): Promise<void> => {
    try {
      saveFile(await api.blob(`${path}/content`), target.split('/').at(-1) ?? 'text');
    } catch (error) {
      setProblem(error as Error);
    }
  };
  return (
    <section aria-label="What can be done">
      {session.code !== undefined && <p>{pauseWords(session.code)}</p>}
      {session.status === 'in_use' && (
        <p>Another process writes it. Here you can only watch and copy it.</p>
      )}
      <div className="actions">
        {canWrite && (
          <button type="button" className="strong" onClick={() => ask('recover')}>
            Write {visibleName(target)}…
          </button>
        )}
        <button type="button" onClick={() => void copyOut()}>
          Copy out
        </button>
        {canDiscard && (
          <button type="button" onClick={() => ask('discard')}>
            Discard…
          </button>
        )}
      </div>
      {command !== null && (
        <p>
          To have the model finish it, in a terminal: <code>{command}</code>
        </p>
      )}
      {problem !== null && <Problem error={problem} />}
      {asked === 'recover' && (
        <RecoverDialog
          session={session}
          path={path}
          hasConflict={hasConflict}
          close={() => ask(null)}
          done={after}
        />
      )}
      {asked === 'discard' && (
        <Confirm
          title={`Discard the text for ${target}`}
          action={`Discard ${formatBytes(session.bytes)}`}
          run={() => api.call(path, { method: 'DELETE' }).then(after)}
          close={() => ask(null)}
        >
          <p>
            <Name>{target}</Name> stays as it is. The {counted(session.lines, 'line')} of this
            session are moved to the attic, where{' '}
            <code>orion recover-session {session.session_id}</code> finds them for a while.
          </p>
        </Confirm>
      )}
    </section>
  );
}

import type { ChangeDiffAnswer, RecordedChange } from '@orion/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';

import { ApiError } from '../api/api.ts';
import { useRead, useServices } from '../api/context.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Diff } from '../ui/diff.tsx';
import { Name } from '../ui/name.tsx';
import { Loaded } from '../ui/states.tsx';
import { changeName } from './change-name.ts';

export const CHANGES = '/api/changes';

export type ChangeActionsProps = {
  readonly changeId: string;
  /** What it changed, in words. */
  readonly what: string;
  readonly status: RecordedChange['status'];
  /** When, in words, where that is in sight. */
  readonly time?: string;
};

/** What a change did, and how it is taken back. */
export function ChangeActions({ changeId, what, status, time }: ChangeActionsProps): ReactNode {
  const [isShown, show] = useState(false);
  const [isAsked, ask] = useState(false);
  const name = changeName(what, changeId, time);
  return (
    <>
      <div className="actions">
        <button
          data-row
          type="button"
          aria-label={`Diff of ${name}`}
          aria-expanded={isShown}
          onClick={() => show(!isShown)}
        >
          Diff
        </button>
        {status === 'in_effect' && (
          <button type="button" aria-label={`Undo… ${name}`} onClick={() => ask(true)}>
            Undo…
          </button>
        )}
      </div>
      {isShown && <ChangeDiff changeId={changeId} />}
      {isAsked && <Undo changeId={changeId} what={what} close={() => ask(false)} />}
    </>
  );
}

function ChangeDiff({ changeId }: { readonly changeId: string }): ReactNode {
  const difference = useRead<ChangeDiffAnswer>(`${CHANGES}/${encodeURIComponent(changeId)}/diff`);
  return (
    <Loaded query={difference}>
      {({ files }) => (
        <>
          {files.map(({ target_file: file, diff, cut }, index) => (
            <div key={index} role="group" aria-label="Difference">
              <Name>{file}</Name>
              {diff === null ? (
                <p className="faint">The bytes before or after the change are not kept any more.</p>
              ) : (
                <Diff diff={diff} isCut={cut} />
              )}
            </div>
          ))}
        </>
      )}
    </Loaded>
  );
}

function Undo({
  changeId,
  what,
  close,
}: {
  readonly changeId: string;
  readonly what: string;
  readonly close: () => void;
}): ReactNode {
  const { api } = useServices();
  const queries = useQueryClient();
  const [wasEdited, setEdited] = useState(false);
  const run = async (): Promise<void> => {
    try {
      const body = wasEdited ? { force: true } : {};
      await api.call(`${CHANGES}/${encodeURIComponent(changeId)}/undo`, { method: 'POST', body });
    } catch (error) {
      if (error instanceof ApiError && error.code === 'TARGET_CHANGED') setEdited(true);
      throw error;
    }
    await queries.invalidateQueries({
      predicate: ({ queryKey: [read] }) => String(read).startsWith(CHANGES),
    });
  };
  return (
    <Confirm
      title={`Undo the change of ${what}`}
      action={wasEdited ? 'Undo, and keep the edited version as a change' : `Undo ${what}`}
      run={run}
      close={close}
    >
      <p>What was there before is put back. This can be undone as well.</p>
      <ChangeDiff changeId={changeId} />
    </Confirm>
  );
}

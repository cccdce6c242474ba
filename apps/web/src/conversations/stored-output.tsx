import type { WholeOutput } from '@orion/contracts';
import { useState } from 'react';
import type { ReactNode } from 'react';

import { useRead } from '../api/context.tsx';
import { LongJson } from '../ui/long-json.tsx';
import { Loaded } from '../ui/states.tsx';

/** The result of a call that was too large for the model. It is read when somebody opens it. */
export function StoredOutput({
  id,
  projectId,
}: {
  readonly id: string;
  readonly projectId: string | null;
}): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const query = projectId === null ? '' : `?${new URLSearchParams({ projectId }).toString()}`;
  const path = `/api/tool-outputs/${encodeURIComponent(id)}${query}`;
  const stored = useRead<WholeOutput>(path, { isWanted: isOpen });
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>The whole result, as it is stored</summary>
      {isOpen && (
        <Loaded query={stored}>{({ output }) => <LongJson value={output} name={id} />}</Loaded>
      )}
    </details>
  );
}

import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';

import { ApiError, FOREIGN } from '../api/api.ts';
import { announcer } from './announcer.ts';
import { formatTime } from './format.ts';
import { Title } from './title.tsx';

/** A skeleton before this would only flicker. */
const SKELETON_MS = 150;

/** What was read, while it is read, and when it could not be: old data stays, and says how old it is. */
export function Loaded<Data>({
  query,
  title,
  children,
}: {
  readonly query: UseQueryResult<Data>;
  /** Of a view that is named by what is read, until that is there. */
  readonly title?: string;
  readonly children: (data: Data) => ReactNode;
}): ReactNode {
  const { data, error, dataUpdatedAt } = query;
  return (
    <>
      {data === undefined && title !== undefined && <Title>{title}</Title>}
      {error !== null && !(isUnreachable(error) && data !== undefined) && (
        <Problem error={error} retry={() => void query.refetch()} />
      )}
      {error !== null && data !== undefined && (
        <p className="faint">As of {formatTime(dataUpdatedAt, Date.now())}.</p>
      )}
      {data !== undefined && children(data)}
      {data === undefined && error === null && <Skeleton />}
    </>
  );
}

/** Nothing answers, or only what stands before the server: the line above every view says so. */
export function isUnreachable(error: Error | null): boolean {
  return error instanceof ApiError && (error.status === 0 || error.code === FOREIGN);
}

export function Skeleton(): ReactNode {
  const [isShown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), SKELETON_MS);
    return () => clearTimeout(timer);
  }, []);
  return isShown ? <p className="skeleton">Loading…</p> : null;
}

/** An error in words: what happened, and the next step. */
export function Problem({
  error,
  retry,
}: {
  readonly error: Error;
  readonly retry?: () => void;
}): ReactNode {
  const { code = 'PAGE_ERROR', hint = null } = error as Partial<Pick<ApiError, 'code' | 'hint'>>;
  useEffect(() => {
    announcer.say(code, `Error: ${error.message}`);
    return () => announcer.over(code);
  }, [code, error.message]);
  return (
    <div className="problem" role="group" aria-label="Error">
      <p>
        <strong>{code}</strong>: <bdi>{error.message}</bdi>
      </p>
      {hint !== null && (
        <p>
          <bdi>{hint}</bdi>
        </p>
      )}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Where nothing is: what would be here, and the command that makes it. */
export function Empty({
  children,
  command,
}: {
  readonly children: ReactNode;
  readonly command?: string;
}): ReactNode {
  return (
    <div className="empty">
      <p>{children}</p>
      {command !== undefined && <pre className="command">{command}</pre>}
    </div>
  );
}

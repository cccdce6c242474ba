import { useCallback, useEffect, useState } from 'react';

import { ApiError } from '../api/api.ts';
import { BASE_PATH } from '../api/base-path.ts';
import type { ConnectState } from './connect-view.tsx';
import { isOurServer, sessionFromCode, storedSession, storeSession } from './page-session.ts';
import type { PageSession } from './page-session.ts';
import { askOtherTabs } from './share-session.ts';

/** Our server may answer so when it has no time. */
const BUSY: ReadonlySet<number> = new Set([408, 429]);

export type PageConnection =
  | { readonly kind: 'connected'; readonly session: PageSession }
  | ConnectState;

/**
 * The session of this tab: from a link, from before a reload, or from another tab. It is used only after the server
 * has proved that it knows it.
 */
export function useConnection(): {
  readonly connection: PageConnection;
  readonly connect: (session?: PageSession) => void;
  readonly signOut: (error: Error | null) => void;
  /** The server of this session has gone, and somebody else has its port. The session is kept for when it is back. */
  readonly leaveStranger: (session: PageSession) => void;
} {
  const [connection, setConnection] = useState<PageConnection>({ kind: 'looking' });

  const connect = useCallback((given?: PageSession): void => {
    setConnection({ kind: 'looking' });
    findSession(given).then(setConnection, (error: unknown) =>
      setConnection({ kind: 'signed_out', error: error as Error }),
    );
  }, []);
  const signOut = useCallback((error: Error | null): void => {
    storeSession(null);
    setConnection({ kind: 'signed_out', error });
  }, []);
  const leaveStranger = useCallback((session: PageSession): void => {
    setConnection((known) =>
      known.kind === 'connected' && known.session === session ? { kind: 'stranger' } : known,
    );
  }, []);
  useEffect(() => {
    if (window.isSecureContext) connect();
  }, [connect]);
  return { connection, connect, signOut, leaveStranger };
}

async function findSession(given?: PageSession): Promise<PageConnection> {
  const code = takeCode();
  if (code !== null) storeSession(await sessionFromCode(code));
  const session = given ?? storedSession() ?? (await askOtherTabs());
  if (session === null) return { kind: 'signed_out', error: null };
  try {
    if (!(await isOurServer(session))) return { kind: 'stranger' };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // A server that refuses the session knows what one is; anything else that answers is not ours.
    if (error.code === 'PAGE_SESSION_ENDED') {
      storeSession(null);
      return { kind: 'signed_out', error };
    }
    const { status } = error;
    return { kind: status === 0 || status >= 500 || BUSY.has(status) ? 'gone' : 'stranger' };
  }
  storeSession(session);
  return { kind: 'connected', session };
}

/** The code of a log-in link, taken out of the address and its history before anything else happens. */
function takeCode(): string | null {
  if (location.pathname !== `${BASE_PATH}/connect`) return null;
  const code = location.hash.slice(1);
  const place = sessionStorage.getItem(PLACE) ?? `${BASE_PATH}/`;
  sessionStorage.removeItem(PLACE);
  history.replaceState(null, '', place);
  return code === '' ? null : code;
}

const PLACE = `orion-place${BASE_PATH}`;

/** Where a log-in leads back to. */
export function keepPlace(): void {
  sessionStorage.setItem(PLACE, `${location.pathname}${location.search}`);
}

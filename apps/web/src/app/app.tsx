import type { ApprovalsAnswer } from '@orion/contracts';
import { QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { Link, Redirect, Route, Router, Switch, useLocation } from 'wouter';

import { createOrionClient } from '@orion/client';
import { ApiError, createApi } from '../api/api.ts';
import { BASE_PATH } from '../api/base-path.ts';
import { ServicesProvider } from '../api/context.tsx';
import { ApprovalView } from '../approvals/approval-view.tsx';
import { PENDING } from '../approvals/pending.ts';
import { ChangesView } from '../changes/changes-view.tsx';
import { ConnectView } from '../connect/connect-view.tsx';
import { isOurServer, tokenOf } from '../connect/page-session.ts';
import type { PageSession } from '../connect/page-session.ts';
import { createProvenFetch } from '../connect/proven-fetch.ts';
import { answerOtherTabs } from '../connect/share-session.ts';
import { keepPlace, useConnection } from '../connect/use-connection.ts';
import { ConversationView } from '../conversations/conversation-view.tsx';
import { ConversationsView } from '../conversations/conversations-view.tsx';
import { KeysDialog } from '../keys/keys-dialog.tsx';
import { VIEWS } from '../keys/keys.ts';
import { keepFocus } from '../keys/keep-focus.ts';
import { useLetters } from '../keys/letters-switch.ts';
import { useKeys } from '../keys/use-keys.ts';
import { NowView } from '../now/now-view.tsx';
import { PlanView } from '../plan/plan-view.tsx';
import { createTurnReaders } from '../turn/turn-readers.ts';
import { LazyTraceView } from '../traces/lazy-trace-view.tsx';
import { TracesView } from '../traces/traces-view.tsx';
import { Announcements } from '../ui/announcements.tsx';
import { Empty } from '../ui/states.tsx';
import { Title } from '../ui/title.tsx';
import { ToastList } from '../ui/toast-list.tsx';
import { WriteView } from '../writes/write-view.tsx';
import { WritesView } from '../writes/writes-view.tsx';
import { NewerVersion } from './newer-version.tsx';
import { StatusLine } from './status-line.tsx';

export function App(): ReactNode {
  const { connection, connect, signOut, leaveStranger } = useConnection();
  useEffect(() => keepFocus(document.body), []);
  return (
    <Router base={BASE_PATH}>
      {connection.kind === 'connected' ? (
        <Page session={connection.session} signOut={signOut} leaveStranger={leaveStranger} />
      ) : (
        <ConnectView state={connection} logIn={connect} retry={() => connect()} />
      )}
      <Announcements />
    </Router>
  );
}

function Page({
  session,
  signOut,
  leaveStranger,
}: {
  readonly session: PageSession;
  readonly signOut: (error: Error | null) => void;
  readonly leaveStranger: (session: PageSession) => void;
}): ReactNode {
  const services = useMemo(() => {
    const refused = (): void => {
      keepPlace();
      signOut(new ApiError(401, 'UNAUTHORIZED', 'This log-in is over.', 'Log in again.'));
    };
    const prove = async (): Promise<void> => {
      const isOurs = await isOurServer(session).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'PAGE_SESSION_ENDED') refused();
        throw error;
      });
      if (isOurs) return;
      leaveStranger(session);
      throw new Error('Somebody else listens on the port of the server.');
    };
    const token = tokenOf(session);
    const fetch = createProvenFetch(prove);
    const api = createApi({ token, refused, fetch });
    const client = createOrionClient({ url: `${location.origin}${BASE_PATH}`, token, fetch });
    return { api, readers: createTurnReaders(client) };
  }, [session, signOut, leaveStranger]);
  const queries = useMemo(
    () =>
      new QueryClient({
        defaultOptions: { queries: { refetchOnWindowFocus: false, refetchOnReconnect: false } },
      }),
    [session],
  );
  useEffect(() => () => services.readers.close(), [services]);
  useEffect(() => answerOtherTabs(session), [session]);
  const leave = async (): Promise<void> => {
    const path = `/api/page/sessions/${encodeURIComponent(session.id)}`;
    const problem = await services.api.call(path, { method: 'DELETE' }).then(
      () => null,
      (error: ApiError) => error,
    );
    signOut(problem === null || problem.status === 401 ? null : notSignedOut(problem));
  };
  return (
    <QueryClientProvider client={queries}>
      <ServicesProvider value={services}>
        <a className="skip" href="#main">
          To the content
        </a>
        <Frame signOut={() => void leave()} />
      </ServicesProvider>
    </QueryClientProvider>
  );
}

function notSignedOut({ status, code }: ApiError): ApiError {
  const message = 'This tab has forgotten its log-in, but the server may still accept it.';
  return new ApiError(status, code, message, 'End all log-ins with: orion web --sign-out-all');
}

function Frame({ signOut }: { readonly signOut: () => void }): ReactNode {
  const [hasLetters, setLetters] = useLetters();
  const [hasHelp, setHelp] = useState(false);
  const showHelp = useCallback(() => setHelp(true), []);
  const queries = useQueryClient();
  const approvalPath = useCallback(() => {
    const paths = queries
      .getQueryData<ApprovalsAnswer>([PENDING])
      ?.approvals.map(({ approvalId }) => `/a/${encodeURIComponent(approvalId)}`);
    return paths?.find((path) => `${BASE_PATH}${path}` !== location.pathname) ?? null;
  }, [queries]);
  useKeys({ hasLetters, showHelp, approvalPath });
  return (
    <>
      <StatusLine showKeys={showHelp} signOut={signOut} />
      <Rail />
      <main id="main" tabIndex={-1}>
        <NewerVersion />
        <Views />
      </main>
      <ToastList />
      {hasHelp && (
        <KeysDialog hasLetters={hasLetters} setLetters={setLetters} closed={() => setHelp(false)} />
      )}
    </>
  );
}

function Rail(): ReactNode {
  const [place] = useLocation();
  const isHere = (path: string): boolean =>
    path === '/' ? place === '/' : place === path || place.startsWith(`${path}/`);
  return (
    <nav aria-label="Views">
      {VIEWS.map(([path, name]) => (
        <Link key={path} href={path} aria-current={isHere(path) ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}

function Views(): ReactNode {
  // Drawn again for each path.
  useLocation();
  const id = idIn(location.pathname);
  return (
    <Switch>
      <Route path="/">
        <NowView />
      </Route>
      <Route path="/connect">
        <Redirect to="/" />
      </Route>
      <Route path="/c">
        <ConversationsView />
      </Route>
      <Route path="/c/:id">
        <ConversationView key={id} conversationId={id} />
      </Route>
      <Route path="/w">
        <WritesView />
      </Route>
      <Route path="/w/:id">
        <WriteView key={id} sessionId={id} />
      </Route>
      <Route path="/a/:id">
        <ApprovalView key={id} approvalId={id} />
      </Route>
      <Route path="/changes">
        <ChangesView />
      </Route>
      <Route path="/t">
        <TracesView />
      </Route>
      <Route path="/t/:id">
        <LazyTraceView key={id} requestId={id} />
      </Route>
      <Route path="/plan">
        <PlanView />
      </Route>
      <Route>
        <Title>Not here</Title>
        <Empty>This page has no such view.</Empty>
      </Route>
    </Switch>
  );
}

/** What names the object of a view. A router decodes a path as a whole, after which it cannot be taken apart any more. */
function idIn(pathname: string): string {
  const last = pathname.replace(/\/$/u, '').split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    // Nobody has encoded it.
    return last;
  }
}

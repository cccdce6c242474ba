import { useState } from 'react';
import type { FormEvent, ReactNode } from 'react';

import { Problem } from '../ui/states.tsx';
import { sessionFromToken } from './page-session.ts';
import type { PageSession } from './page-session.ts';

export type ConnectState =
  | { readonly kind: 'looking' }
  | { readonly kind: 'signed_out'; readonly error: Error | null }
  /** Nothing answers, or it cannot prove that it is our server. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'stranger' };

/** Where somebody without a session is, and says why there is none. */
export function ConnectView({
  state,
  logIn,
  retry,
}: {
  readonly state: ConnectState;
  readonly logIn: (session: PageSession) => void;
  readonly retry: () => void;
}): ReactNode {
  if (!window.isSecureContext) return <NotSecure />;
  return (
    <main id="main" className="connect" tabIndex={-1}>
      <h1>Orion</h1>
      {state.kind === 'looking' && <p role="status">Looking for the server…</p>}
      {state.kind === 'gone' && (
        <div role="alert">
          <p>
            The server does not answer. Start it again in its folder; nothing that it saved is lost.
          </p>
          <pre className="command">orion serve</pre>
          <button type="button" onClick={retry}>
            Try again
          </button>
        </div>
      )}
      {state.kind === 'stranger' && (
        <div role="alert">
          <p>
            <strong>This is not the server that you have logged in to.</strong> Something else is
            listening on its port. It was not given your key.
          </p>
          <button type="button" onClick={retry}>
            Try again
          </button>
        </div>
      )}
      {state.kind === 'signed_out' && (
        <>
          {state.error !== null && <Problem error={state.error} />}
          <p>
            Open a log-in link. The server prints one when it starts. For another one, run this on
            its machine:
          </p>
          <pre className="command">orion web</pre>
          <TokenForm logIn={logIn} />
        </>
      )}
    </main>
  );
}

function TokenForm({ logIn }: { readonly logIn: (session: PageSession) => void }): ReactNode {
  const [problem, setProblem] = useState<Error | null>(null);
  const submit = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    const given = new FormData(form).get('token');
    form.reset();
    try {
      logIn(await sessionFromToken(typeof given === 'string' ? given.trim() : ''));
    } catch (error) {
      setProblem(error as Error);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <label>
        Or paste the server’s token. This tab exchanges it for a key of its own and does not keep
        it.
        <input name="token" type="password" autoComplete="off" required />
      </label>
      <button type="submit">Log in</button>
      {problem !== null && <Problem error={problem} />}
    </form>
  );
}

function NotSecure(): ReactNode {
  return (
    <main id="main" className="connect" tabIndex={-1}>
      <h1>Orion</h1>
      <p>
        This address is not secure: what you type here could be read on the way. Bring the server to
        your own machine instead, and open it there:
      </p>
      <pre className="command">ssh -L 4310:127.0.0.1:4310 the-machine</pre>
    </main>
  );
}

import { BASE_PATH } from '../api/base-path.ts';
import { isOurServer } from './page-session.ts';
import type { PageSession } from './page-session.ts';
import { untilAborted } from './until-aborted.ts';

const NAME = `orion-page${BASE_PATH}`;
/** Tabs answer at once; this is for one that cannot, or whose server does not. */
const PATIENCE_MS = 20_000;

type Words =
  | { readonly kind: 'ask'; readonly id: string }
  /** `session` is null where the tab has none to give. */
  | { readonly kind: 'answer'; readonly id: string; readonly session: PageSession | null };

/** Asks the other tabs of this page for their session; null if there is none, or none of them gives one. */
export async function askOtherTabs(): Promise<PageSession | null> {
  const { held = [] } = await navigator.locks.query();
  let silent = held.filter(({ name }) => name === NAME).length;
  if (silent === 0) return null;
  return new Promise((resolve) => {
    const id = crypto.randomUUID();
    const channel = new BroadcastChannel(NAME);
    const finish = (session: PageSession | null): void => {
      channel.close();
      clearTimeout(timer);
      resolve(session);
    };
    const timer = setTimeout(() => finish(null), PATIENCE_MS);
    channel.onmessage = ({ data }: MessageEvent<Words>) => {
      if (data.kind !== 'answer' || data.id !== id) return;
      silent -= 1;
      if (data.session !== null || silent === 0) finish(data.session);
    };
    channel.postMessage({ kind: 'ask', id } satisfies Words);
  });
}

/**
 * Answers other tabs of this page, once the server has proved again that it is ours: who listens on its port may have
 * changed, and the other tab may be a stranger's.
 */
export function answerOtherTabs(session: PageSession): () => void {
  const channel = new BroadcastChannel(NAME);
  const closed = new AbortController();
  channel.onmessage = ({ data }: MessageEvent<Words>) => {
    if (data.kind !== 'ask') return;
    void isOurServer(session)
      .catch(() => false)
      .then((isOurs) => {
        if (closed.signal.aborted) return;
        const given = isOurs ? session : null;
        channel.postMessage({ kind: 'answer', id: data.id, session: given } satisfies Words);
      });
  };
  // A tab that has nobody to ask sees that at once.
  void navigator.locks
    .request(NAME, { mode: 'shared', signal: closed.signal }, () => untilAborted(closed.signal))
    .catch(() => undefined);
  return () => {
    closed.abort();
    channel.close();
  };
}

import { BASE_PATH } from '../api/base-path.ts';
import type { PageSession } from './page-session.ts';

const CHANNEL = `orion-page${BASE_PATH}`;
const PATIENCE_MS = 300;

type Words = { readonly kind: 'ask' } | { readonly kind: 'session'; readonly session: PageSession };

/** Asks the other tabs of this page for their session; null if none answers soon. */
export function askOtherTabs(): Promise<PageSession | null> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    const finish = (session: PageSession | null): void => {
      channel.close();
      clearTimeout(timer);
      resolve(session);
    };
    const timer = setTimeout(() => finish(null), PATIENCE_MS);
    channel.onmessage = ({ data }: MessageEvent<Words>) => {
      if (data.kind === 'session') finish(data.session);
    };
    channel.postMessage({ kind: 'ask' } satisfies Words);
  });
}

/**
 * Answers other tabs of this page while `isAlive`: a tab that has lost its server does not know who listens on its
 * port now, and another tab there may be a stranger's.
 */
export function answerOtherTabs(session: PageSession, isAlive: () => boolean): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Words>) => {
    if (data.kind === 'ask' && isAlive())
      channel.postMessage({ kind: 'session', session } satisfies Words);
  };
  return () => channel.close();
}

import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';

import type { SessionView, TurnView } from '../turn/turn-view.ts';
import { textOf } from '../turn/turn-view.ts';
import { announcer } from '../ui/announcer.ts';
import { formatAge, formatBytes } from '../ui/format.ts';
import { useNow } from '../ui/use-now.ts';
import { isOpen } from './session-words.ts';
import { isStandingStill, nextStill, stillSince } from './standing-still.ts';

const TOPIC = 'saving is held up';

/** The disk does not take the text, or does not confirm it: how much, and why. Nothing while all is well. */
export function HeldUp({
  session,
  items,
}: {
  readonly session: SessionView;
  readonly items: TurnView['items'];
}): ReactNode {
  const { isHeldUp, received, saved, synced, targetFile } = session;
  const stillMs = useStandingStill(session);
  const isShown = (isHeldUp || stillMs !== null) && isOpen(session);
  // What is saved outlives a kill of the server, and what is synced a power cut.
  const what = isHeldUp ? 'Saving' : 'Syncing';
  useEffect(() => {
    if (!isShown) return;
    announcer.sayAtOnce(TOPIC, `${what} ${targetFile} is held up`);
    return () => announcer.over(TOPIC);
  }, [isShown, what, targetFile]);
  if (!isShown) return null;
  // The runtime says why when it happens.
  const said = items.findLast((item) => item.kind === 'text' && item.source === 'notice');
  return (
    <section className="problem" aria-label={`${what} is held up`}>
      <p>
        <strong>{what} is held up.</strong>{' '}
        {isHeldUp
          ? `${formatBytes(received - (saved ?? 0))} are in memory only: do not close Orion.`
          : `For ${formatAge(stillMs ?? 0)} the disk has confirmed nothing: a power cut would take ${formatBytes(received - synced)}.`}
      </p>
      {said?.kind === 'text' && (
        <p>
          <bdi>{textOf(said).trim()}</bdi>
        </p>
      )}
    </section>
  );
}

/** For how long the disk has confirmed nothing although text arrives; null while all is well. */
function useStandingStill(session: SessionView): number | null {
  const [still, setStill] = useState(() => stillSince(session, Date.now()));
  const now = useNow(isOpen(session) && session.synced < session.received);
  const next = nextStill(still, session, now);
  if (next !== still) setStill(next);
  return isStandingStill(next, session, now) ? now - next.since : null;
}

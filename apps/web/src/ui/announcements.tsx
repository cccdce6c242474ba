import { useEffect, useRef, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';

import { announcer } from './announcer.ts';

/** The only two places of the page that are read aloud as they change. */
export function Announcements(): ReactNode {
  const { polite, urgent } = useSyncExternalStore(announcer.subscribe, announcer.snapshot);
  return (
    <div className="unseen">
      <div aria-live="polite" role="status">
        <p key={polite.id}>{polite.text}</p>
      </div>
      <div aria-live="assertive" role="alert">
        <p key={urgent.id}>{urgent.text}</p>
      </div>
    </div>
  );
}

/** Says how something is when that has changed; what it was at first, people read for themselves. */
export function useAnnounced(topic: string, text: string): void {
  const before = useRef(text);
  useEffect(() => {
    if (before.current === text) return;
    before.current = text;
    announcer.say(topic, text);
  }, [topic, text]);
}

import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type { ReactNode } from 'react';

import { announcer } from './announcer.ts';

/**
 * The two places that are read aloud as they change: those of the page, and of a dialog, outside of which nothing is read.
 * What was said before they were there is not said again.
 */
export function Announcements(): ReactNode {
  const [before] = useState(announcer.snapshot);
  const { polite, urgent } = useSyncExternalStore(announcer.subscribe, announcer.snapshot);
  return (
    <div className="unseen">
      <div aria-live="polite" role="status">
        <p key={polite.id}>{polite.id > before.polite.id && polite.text}</p>
      </div>
      <div aria-live="assertive" role="alert">
        <p key={urgent.id}>{urgent.id > before.urgent.id && urgent.text}</p>
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

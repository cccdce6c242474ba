import { useEffect } from 'react';
import type { ReactNode } from 'react';

import type { SessionView, TurnView } from '../turn/turn-view.ts';
import { textOf } from '../turn/turn-view.ts';
import { announcer } from '../ui/announcer.ts';
import { formatBytes } from '../ui/format.ts';
import { isOpen } from './session-words.ts';

const TOPIC = 'saving is held up';

/** The disk does not take the text: how much only memory has, and why. Nothing while all is well. */
export function HeldUp({
  session,
  items,
}: {
  readonly session: SessionView;
  readonly items: TurnView['items'];
}): ReactNode {
  const { isHeldUp, received, saved, targetFile } = session;
  const isShown = isHeldUp && isOpen(session);
  useEffect(() => {
    if (!isShown) return;
    announcer.sayAtOnce(TOPIC, `Saving ${targetFile} is held up`);
    return () => announcer.over(TOPIC);
  }, [isShown, targetFile]);
  if (!isShown) return null;
  // The runtime says why when it happens.
  const said = items.findLast((item) => item.kind === 'text' && item.source === 'notice');
  return (
    <section className="problem" aria-label="Saving is held up">
      <p>
        <strong>Saving is held up.</strong> {formatBytes(received - (saved ?? 0))} are in memory
        only: do not close Orion.
      </p>
      {said?.kind === 'text' && (
        <p>
          <bdi>{textOf(said).trim()}</bdi>
        </p>
      )}
    </section>
  );
}

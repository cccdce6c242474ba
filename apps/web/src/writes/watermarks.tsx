import type { ReactNode } from 'react';

import type { SessionView } from '../turn/turn-view.ts';
import { formatBytes, formatCount } from '../ui/format.ts';

/** How much of a file there is, and how much of it nothing can take away: the server's words. */
export function Watermarks({
  session: { received, saved, synced, lines },
}: {
  readonly session: Pick<SessionView, 'received' | 'saved' | 'synced' | 'lines'>;
}): ReactNode {
  // Events say it now and then: between them, it can only have become more.
  const known = saved ?? synced;
  return (
    <dl className="watermarks">
      <div>
        <dt>received</dt>
        <dd data-watermark="received">{formatBytes(received)}</dd>
      </div>
      <div title="Survives a kill of the server">
        <dt>saved</dt>
        <dd data-watermark="saved">
          {known < received && 'at least '}
          {formatBytes(known)}
        </dd>
      </div>
      <div title="Survives a kill of the server and a power cut">
        <dt>synced</dt>
        <dd data-watermark="synced">{formatBytes(synced)}</dd>
      </div>
      {lines !== null && (
        <div>
          <dt>lines</dt>
          <dd>{formatCount(lines)}</dd>
        </div>
      )}
    </dl>
  );
}

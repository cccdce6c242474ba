import { sleep, systemClock } from '@orion/contracts';
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';

import { ApiError } from '../api/api.ts';
import type { Api } from '../api/api.ts';
import { useServices } from '../api/context.tsx';
import { SEAM } from '../live-text/gutter.ts';
import { createLiveText } from '../live-text/live-text.ts';
import type { LiveText, LiveTextState } from '../live-text/live-text.ts';
import styles from '../live-text/live-text.module.css';
import { TextFeed } from '../live-text/text-feed.ts';
import type { Fold } from '../turn/fold-events.ts';
import { counted, formatBytes } from '../ui/format.ts';
import { Problem } from '../ui/states.tsx';
import { FindBar } from './find-bar.tsx';

export type LiveFileProps = {
  readonly sessionId: string;
  /** The turn that writes it. Without one, only its size is known, by `received`. */
  readonly turnId: string | null;
  readonly received: number;
  readonly isWritten: boolean;
  readonly synced: number;
  /** At least `synced`. */
  readonly saved: number;
  readonly seams: readonly number[];
};

/** The text of a session is kept until its file is written. */
const GONE: ReadonlySet<string> = new Set(['SESSION_NOT_FOUND', 'SESSION_WRITTEN']);

type Shown = { readonly live: LiveText; readonly feed: TextFeed };

const EMPTY: LiveTextState = { bytes: 0, lines: 0, follows: true, newLines: 0, earlierLines: 0 };

/** The text of a session as it is written. React draws the frame; the text is drawn by `LiveText` alone. */
export function LiveFile({
  sessionId,
  turnId,
  received,
  isWritten,
  synced,
  saved,
  seams,
}: LiveFileProps): ReactNode {
  const { api, readers } = useServices();
  const scroller = useRef<HTMLDivElement>(null);
  const shown = useRef<Shown | null>(null);
  const [state, setState] = useState(EMPTY);
  const [problem, setProblem] = useState<Error | null>(null);

  useEffect(() => {
    if (scroller.current === null) return;
    const path = `/api/write-sessions/${encodeURIComponent(sessionId)}/content`;
    const place = keptLine(sessionId);
    const live = createLiveText(scroller.current, setState, place.line);
    const feed = new TextFeed(live, {
      read: (from, to, signal) => readRange(api, path, from, to, signal),
      failed: setProblem,
      wait: (milliseconds, signal) => sleep(systemClock, milliseconds, signal),
    });
    shown.current = { live, feed };
    const reader = turnId === null ? null : readers.of(turnId);
    const leave = reader?.follow((fold) => passOn(feed, sessionId, fold));
    const keep = (): void => place.keep(live.topLine());
    window.addEventListener('pagehide', keep);
    return () => {
      keep();
      window.removeEventListener('pagehide', keep);
      leave?.();
      feed.close();
      live.close();
      shown.current = null;
    };
  }, [api, readers, sessionId, turnId]);

  useEffect(() => {
    const { live, feed } = shown.current ?? {};
    if (live === undefined || feed === undefined) return;
    // Without its events, text that became shorter is the only sign that something was taken back.
    if (turnId === null && received < live.bytes()) feed.rewind(received);
    if (!isWritten) feed.reach(received);
  }, [sessionId, turnId, received, isWritten]);
  useEffect(() => shown.current?.live.mark({ synced, saved }), [synced, saved]);
  useEffect(() => shown.current?.live.markSeams(seams), [seams]);

  return (
    <div className={styles['frame']}>
      {problem !== null && <Problem error={problem} />}
      {isWritten && state.bytes < received && (
        <p className="faint">
          {formatBytes(received - state.bytes)} were not read before the file was written.
        </p>
      )}
      {state.earlierLines > 0 && (
        <p className="faint">
          {counted(state.earlierLines, 'earlier line')} {state.earlierLines === 1 ? 'is' : 'are'}{' '}
          not drawn here; Copy out has all of them.
        </p>
      )}
      <FindBar scroller={scroller} />
      <div className={styles['pane']}>
        <div
          ref={scroller}
          className={styles['scroller']}
          tabIndex={0}
          role="region"
          aria-label="Text of the file"
        />
        {!state.follows && (
          <button
            type="button"
            data-to-end
            className={styles['to-end']}
            onClick={() => shown.current?.live.followEnd()}
          >
            ↓ {counted(state.newLines, 'new line')}
          </button>
        )}
      </div>
      <p className="faint">
        {counted(state.lines, 'line')} here · <Mark is="synced" /> synced: survives a power cut ·{' '}
        <Mark is="saved" /> saved: survives a kill · <Mark is="received" /> received: may be in
        memory only
        {seams.length > 0 && (
          <>
            {' '}
            · <span aria-hidden="true">{SEAM}</span> text was joined
          </>
        )}
      </p>
    </div>
  );
}

function Mark({ is }: { readonly is: 'synced' | 'saved' | 'received' }): ReactNode {
  return (
    <span aria-hidden="true" className={`${styles['legend']} ${styles['mark']} ${styles[is]}`} />
  );
}

/** Where somebody is in a file, until its tab is closed: a reload leads back there. */
function keptLine(sessionId: string): {
  readonly line: number | null;
  readonly keep: (line: number | null) => void;
} {
  const name = `orion-line ${sessionId}`;
  const line = Number(sessionStorage.getItem(name) ?? 0);
  return {
    line: line > 0 ? line : null,
    keep(now) {
      if (now === null) sessionStorage.removeItem(name);
      else sessionStorage.setItem(name, String(now));
    },
  };
}

/** A session that is over has no text any more, and one that is written may be saved later than its events. */
async function readRange(
  api: Api,
  path: string,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  try {
    return await api.bytes(path, from, to, signal);
  } catch (error) {
    if (error instanceof ApiError && GONE.has(error.code)) return null;
    if (error instanceof ApiError && error.status === 416) return new Uint8Array();
    throw error;
  }
}

function passOn(feed: TextFeed, sessionId: string, { taken, wasReset }: Fold): void {
  if (wasReset) feed.rewind(0);
  for (const event of taken) {
    if (event.type === 'write_chunk' && event.sessionId === sessionId)
      feed.chunk(event.offset, event.length, event.content);
    if (event.type === 'write_rewind' && event.sessionId === sessionId) feed.rewind(event.toOffset);
  }
}

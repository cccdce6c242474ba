import type { RunEventBody } from '@orion/contracts';
import { MAX_CORRECTION_ROUNDS, stateNameOf } from '@orion/core';
import type { ContentSummary, WriteSession } from '@orion/core';

export type SessionEvent = Extract<RunEventBody, { readonly type: 'write_session' }>;

/** The state of a session as an event. `durableBytes`: how many of its bytes are on the disk. */
export function sessionEvent(session: WriteSession, durableBytes: number): SessionEvent {
  const { metadata, summary, control, repair } = session;
  return {
    type: 'write_session',
    sessionId: metadata.session_id,
    status: stateNameOf(control),
    targetFile: metadata.target_file,
    operation: metadata.operation,
    bytes: summary.bytes,
    lines: linesOf(summary),
    durableBytes: Math.min(durableBytes, summary.bytes),
    ...(control.kind === 'needs_corrections'
      ? {
          // What a round asks about, without the text around it.
          corrections: {
            attempt: (repair?.rounds.length ?? 0) + 1,
            max_attempts: MAX_CORRECTION_ROUNDS,
            invalid_found: repair?.found ?? 0,
            places: control.places.map(({ context: _context, ...place }) => place),
          },
        }
      : {}),
  };
}

/** An open last line is one. */
export function linesOf({ lineFeeds, openLineLength }: ContentSummary): number {
  return lineFeeds + (openLineLength > 0 ? 1 : 0);
}

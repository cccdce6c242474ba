import type { RunEvent } from '@orion/contracts';

import { plural } from '../terminal/format.ts';
import type { Screen } from '../terminal/screen.ts';
import type { Wording } from './wording.ts';
import { needsAttention, pausedLine, receiptLine, unprovedParts } from './write-lines.ts';

type Stage = 'begun' | 'ended';
type SessionEvent = Extract<RunEvent, { type: 'write_session' }>;

export type SessionViewOptions = {
  readonly screen: Pick<Screen, 'line'>;
  /** Only receipts, pauses and what was not written. */
  readonly quiet: boolean;
  readonly wording: Wording;
};

/** Says what becomes of the write sessions of a turn: when one begins and ends, and how. */
export function createSessionView({ screen, quiet, wording }: SessionViewOptions): {
  readonly show: (event: SessionEvent) => void;
  /** What receipts do not prove. Repeated at the end: other lines may come between a receipt and the end of the turn. */
  readonly unproved: () => readonly string[];
} {
  /** The stage that was last shown of each session, by id. */
  const stages = new Map<string, Stage>();
  const unproved: string[] = [];

  function show(event: SessionEvent): void {
    if (event.receipt !== undefined) {
      unproved.push(...unprovedParts(event.receipt));
      screen.line(
        receiptLine(event.receipt, wording.undo),
        needsAttention(event.receipt) ? 'warning' : 'success',
      );
      return;
    }
    if (event.paused !== undefined) {
      screen.line(pausedLine(event.paused), 'warning');
      for (const line of wording.next(event.paused)) screen.line(line, 'warning');
      return;
    }
    if (event.status === 'aborted') {
      screen.line(`${event.targetFile} was not written (${event.code ?? 'cancelled'}).`, 'warning');
      return;
    }
    const stage = event.status === 'session_active.finalizing' ? 'ended' : 'begun';
    if (quiet || stages.get(event.sessionId) === stage) return;
    // Several statuses make one stage, and a stage is shown once: a repair may lead back to the first.
    if (stage === 'begun' && stages.has(event.sessionId)) return;
    stages.set(event.sessionId, stage);
    screen.line(stageLine(event, stage), 'faint');
  }

  return { show, unproved: () => unproved };
}

/** Tells when capture begins and when it ends. */
function stageLine(event: SessionEvent, stage: Stage): string {
  const { targetFile, operation, bytes, lines } = event;
  // How much of it becomes the file is said by the receipt, and whether it does.
  if (stage === 'ended') return `The content has ended; writing ${targetFile}.`;
  if (bytes === 0)
    return `Writing ${targetFile} (${operation}): what the model writes now is the file.`;
  return `Continuing ${targetFile} (${operation}) after ${plural(lines, 'line')}.`;
}

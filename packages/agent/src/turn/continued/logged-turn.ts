import { TurnText } from '@orion/contracts';
import type { RunEvent, TurnLogEntry } from '@orion/contracts';

import { runEventOf } from '../../store/log-entry.ts';

type SessionEvent = Extract<RunEvent, { type: 'write_session' }>;

/** What the log says of a turn that earlier owners have begun. */
export type LoggedTurn = {
  readonly lastSeq: number;
  readonly text: TurnText;
  readonly phase: Pick<RunEvent, 'phase' | 'phaseIndex'>;
  /** The last word about each write session, and how many bytes of it the events have. */
  readonly sessions: ReadonlyMap<string, LoggedSession>;
  readonly approvals: LoggedApprovals;
  readonly since: SinceCheckpoint;
};

export type LoggedSession = {
  readonly last: SessionEvent | null;
  readonly bytes: number;
  /** The most bytes that it has had. */
  readonly most: number;
};

/** The ids of what people were asked, and of what was said to be decided. */
export type LoggedApprovals = {
  readonly requested: ReadonlySet<string>;
  readonly decided: ReadonlySet<string>;
};

/** What happened after the checkpoint. */
export type SinceCheckpoint = {
  readonly events: number;
  /** Owners that asked the model again, of those that found text of it. */
  readonly rewinds: number;
  /** The model has said something that is not void. */
  readonly hasText: boolean;
  /** Calls were announced, by a protocol that reports no checkpoints. */
  readonly hasCalls: boolean;
  /** Requests to a model, as far as their phases show them. */
  readonly requests: number;
  /** Of what the model said, and of the files that it streamed. */
  readonly characters: number;
  readonly contentBytes: number;
  /** While the turn had an owner, by the clock of the store. */
  readonly milliseconds: number;
};

/** Reads the log of a turn once, from its beginning; `checkpointSeq` is 0 where there is no checkpoint. */
export async function readLoggedTurn(
  entries: AsyncIterable<TurnLogEntry>,
  checkpointSeq: number,
): Promise<LoggedTurn> {
  const text = new TurnText();
  const sessions = new Map<string, LoggedSession>();
  const approvals = { requested: new Set<string>(), decided: new Set<string>() };
  let phase: LoggedTurn['phase'] = { phase: 'action', phaseIndex: 0 };
  let lastSeq = 0;
  let before: TurnLogEntry | null = null;
  const since = {
    events: 0,
    rewinds: 0,
    hasText: false,
    hasCalls: false,
    requests: 0,
    characters: 0,
    contentBytes: 0,
    milliseconds: 0,
  };
  for await (const entry of entries) {
    const event = runEventOf(entry);
    text.add(event);
    noteSession(sessions, event);
    if (event.type === 'approval_requested') approvals.requested.add(event.approvalId);
    if (event.type === 'approval_decided') approvals.decided.add(event.approvalId);
    phase = event;
    lastSeq = event.seq;
    // The checkpoint between two messages belongs to the phase of the next one.
    if (event.seq >= checkpointSeq && event.type === 'phase' && event.phase === 'action') {
      since.requests += 1;
    }
    if (event.seq > checkpointSeq) {
      since.events += 1;
      // A turn that waits for an owner or a person takes no time of its budget.
      const isWaiting = before?.kind === 'approval_requested';
      if (before?.epoch === entry.epoch && !isWaiting)
        since.milliseconds += entry.storedAt - before.storedAt;
      if (event.type === 'rewind') {
        since.rewinds += 1;
        since.hasText = false;
      }
      if (event.type === 'tool_calls') since.hasCalls = true;
      if (event.type === 'chunk' && event.source === 'model') {
        since.characters += event.content.length;
        since.hasText = true;
      }
      if (event.type === 'write_chunk') since.contentBytes += event.length;
    }
    before = entry;
  }
  since.milliseconds = Math.max(0, since.milliseconds);
  return { lastSeq, text, phase, sessions, approvals, since };
}

function noteSession(sessions: Map<string, LoggedSession>, event: RunEvent): void {
  switch (event.type) {
    case 'write_session': {
      const { bytes = 0, most = 0 } = sessions.get(event.sessionId) ?? {};
      sessions.set(event.sessionId, { last: event, bytes, most });
      return;
    }
    case 'write_chunk':
    case 'write_rewind': {
      const { last = null, most = 0 } = sessions.get(event.sessionId) ?? {};
      const bytes = event.type === 'write_rewind' ? event.toOffset : event.offset + event.length;
      sessions.set(event.sessionId, { last, bytes, most: Math.max(most, bytes) });
      return;
    }
    default:
  }
}

/** What the row of a stored session says. Reading it never throws: a newer version may have written it. */
import { defined } from '@orion/contracts';
import type {
  SessionListing,
  SessionMetadata,
  StoredSession,
  TurnRecord,
  WritingRecord,
} from '@orion/contracts';
import {
  parseMetadata,
  parseState,
  parseTurn,
  parseWriting,
} from '../session-dir/session-files.ts';
import type { SavedState } from '../session-dir/session-files.ts';

export type ReadSession = {
  readonly metadata: SessionMetadata;
  readonly state: SavedState | null;
  readonly turn: TurnRecord | null;
  readonly writing: WritingRecord | null;
};

/** Null if it cannot be continued. */
export function readRow(row: StoredSession): ReadSession | null {
  const metadata = parseMetadata(row.metadata, row.sessionId);
  const state = parseState(row.state);
  const writing = row.writing === null ? null : parseWriting(row.writing);
  if (metadata.kind !== 'good' || state.kind === 'newer') return null;
  if (row.writing !== null && writing === null) return null;
  return {
    metadata: metadata.value,
    state: state.kind === 'good' ? state.value : null,
    turn: row.turn === null ? null : parseTurn(row.turn),
    writing,
  };
}

export function listingOf(row: StoredSession, maxSessionAgeMs: number): SessionListing {
  const read = readRow(row);
  const { metadata = null, state = null } = read ?? {};
  const status = row.isLive ? 'live' : read === null ? 'damaged' : 'orphan';
  const isUploaded = metadata?.uploaded === true;
  const code = status === 'damaged' ? 'SESSION_DAMAGED' : state?.record?.code;
  return {
    session_id: row.sessionId,
    status,
    state: state?.record?.state ?? null,
    target_file: metadata?.target_file ?? null,
    operation: metadata?.operation ?? null,
    intent: metadata?.intent ?? null,
    age_ms: row.ageMs,
    lines: row.lines,
    bytes: row.places.content.bytes,
    saved_bytes: state?.bufferSize ?? 0,
    seams: state?.record?.seams ?? [],
    ...defined({ recovered_at: state?.recoveredAt }),
    session_dir: `database:${row.sessionId}`,
    recoverable:
      status === 'orphan' && !row.isPutAway && row.ageMs < maxSessionAgeMs && !isUploaded,
    ...(isUploaded ? { uploaded: true } : {}),
    ...(row.isPutAway ? { discarded: true } : {}),
    ...(code === undefined ? {} : { code }),
  };
}

import { defined } from '@orion/contracts';
import type { RunEvent, TurnStreamEvent } from '@orion/contracts';

import type {
  TurnView,
  TurnItem,
  TextItem,
  Piece,
  CallItem,
  ApprovalItem,
  RawItem,
  SessionView,
} from './turn-view.ts';

export type Fold = {
  readonly view: TurnView;
  /** The events that were taken; a repeated one is not. After a reset, those that followed it. */
  readonly taken: readonly RunEvent[];
  readonly wasReset: boolean;
  /** An event is missing: nothing after it was taken, and the stream has to be read again behind `view.lastSeq`. */
  readonly hasGap: boolean;
};

export const EMPTY_TURN: TurnView = {
  requestId: null,
  projectId: null,
  conversationId: null,
  lastSeq: 0,
  items: [],
  sessions: new Map(),
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
  end: null,
};

/**
 * The view after these events.
 *
 * 1. The result depends on the log alone: repeats, gaps, resets, and how events are divided into calls change nothing.
 * 2. Nothing is changed in place, and each call copies lists once, so that a log of any length costs in proportion.
 * 3. An event of an unknown type takes its place as a raw item.
 * 4. Behind a reset there is no gap: the connection that brought it brings all that the store has kept, which is not
 *    every event of an old turn. `isBehindReset` says that this connection brought one before these events.
 */
export function foldEvents(
  before: TurnView,
  events: readonly TurnStreamEvent[],
  isBehindReset = false,
): Fold {
  let draft = draftOf(before);
  let taken: RunEvent[] = [];
  let wasReset = false;
  for (const event of events) {
    if (event.type === 'reset') {
      draft = draftOf(EMPTY_TURN);
      taken = [];
      wasReset = true;
      continue;
    }
    if (event.seq <= draft.lastSeq) continue;
    if (event.seq !== draft.lastSeq + 1 && !wasReset && !isBehindReset) {
      return { view: viewOf(draft), taken, wasReset, hasGap: true };
    }
    take(draft, event);
    taken.push(event);
  }
  const isSame = taken.length === 0 && !wasReset;
  return { view: isSame ? before : viewOf(draft), taken, wasReset, hasGap: false };
}

type Draft = Omit<{ -readonly [Key in keyof TurnView]: TurnView[Key] }, 'items' | 'sessions'> & {
  readonly items: TurnItem[];
  readonly sessions: Map<string, SessionView>;
  /** Those of the last text, once they are this draft's own and may grow in place. */
  openPieces: Piece[] | null;
};

function draftOf(view: TurnView): Draft {
  return {
    ...view,
    items: [...view.items],
    sessions: new Map(view.sessions),
    openPieces: null,
  };
}

function viewOf({ openPieces: _openPieces, ...view }: Draft): TurnView {
  return view;
}

function take(draft: Draft, event: RunEvent): void {
  draft.lastSeq = event.seq;
  draft.requestId ??= event.requestId;
  draft.projectId ??= event.projectId;
  draft.conversationId ??= event.conversationId;
  switch (event.type) {
    case 'chunk':
      return takeText(draft, event);
    case 'tool_calls':
      for (const { id, name, arguments: given } of event.calls)
        draft.items.push(newCall(event.seq, id, name, given));
      return;
    case 'tool_progress':
      return changeCall(draft, event, { progress: event.message });
    case 'tool_result': {
      const { ok, summary, error = null, outputRef = null } = event;
      return changeCall(draft, event, { result: { ok, summary, error, outputRef } });
    }
    case 'write_session':
      return takeSession(draft, event);
    case 'write_chunk': {
      const end = event.offset + event.length;
      const { durableBytes: synced } = event;
      return changeSession(draft, event, { received: end, lines: null, ...defined({ synced }) });
    }
    case 'write_rewind':
      return takeBack(draft, event);
    case 'rewind':
      return voidText(draft, event.toSeq);
    case 'usage': {
      const { usage } = draft;
      draft.usage = {
        inputTokens: usage.inputTokens + event.inputTokens,
        outputTokens: usage.outputTokens + event.outputTokens,
        cachedTokens: usage.cachedTokens + event.cachedTokens,
        reasoningTokens: usage.reasoningTokens + event.reasoningTokens,
      };
      return;
    }
    case 'error':
      draft.items.push({ kind: 'error', seq: event.seq, error: event.error });
      return;
    case 'done':
      draft.end = { status: event.status, stopReason: event.stopReason ?? null };
      return;
    case 'phase':
      return;
    case 'write_progress':
      return changeSession(draft, event, {
        received: event.receivedBytes,
        saved: event.savedBytes,
        synced: event.durableBytes,
        lines: event.lines,
        isHeldUp: event.savedBytes < event.receivedBytes,
      });
    case 'approval_requested': {
      const { approvalId, sessionId = null } = event;
      changeApproval(draft, event, { approvalId, sessionId, outcome: null });
      return;
    }
    case 'approval_decided':
      changeApproval(draft, event, { outcome: event.decision });
      return;
    default:
      event satisfies never;
      draft.items.push(rawItem(event));
  }
}

/** A server that is newer than the page may send it. */
function rawItem(event: { readonly seq: number; readonly type: string }): RawItem {
  return { kind: 'raw', seq: event.seq, type: event.type, json: JSON.stringify(event) };
}

function takeText(draft: Draft, event: Extract<RunEvent, { type: 'chunk' }>): void {
  const { seq, source, content: text } = event;
  const last = draft.items.at(-1);
  if (last?.kind !== 'text' || last.source !== source || last.isVoid) {
    draft.openPieces = [{ seq, text }];
    draft.items.push({ kind: 'text', seq, source, pieces: draft.openPieces, isVoid: false });
    return;
  }
  if (draft.openPieces !== null) {
    draft.openPieces.push({ seq, text });
    return;
  }
  draft.openPieces = [...last.pieces, { seq, text }];
  draft.items[draft.items.length - 1] = { ...last, pieces: draft.openPieces };
}

/** Model text after this number, unless a call or a session followed it. An item that began before is divided. */
function voidText(draft: Draft, toSeq: number): void {
  const { items } = draft;
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index];
    if (item === undefined) continue;
    const end = item.kind === 'text' ? (item.pieces.at(-1)?.seq ?? item.seq) : item.seq;
    if (end <= toSeq || item.kind === 'call' || item.kind === 'session') return;
    if (item.kind !== 'text' || item.source !== 'model' || item.isVoid) continue;
    const kept = item.pieces.filter((piece) => piece.seq <= toSeq);
    const rest = item.pieces.slice(kept.length);
    const voided: TextItem = { ...item, seq: rest[0]?.seq ?? item.seq, pieces: rest, isVoid: true };
    items.splice(index, 1, ...(kept.length === 0 ? [] : [{ ...item, pieces: kept }]), voided);
  }
}

function newCall(seq: number, callId: string, name: string, given: string): CallItem {
  return { kind: 'call', seq, callId, name, arguments: given, progress: null, result: null };
}

/** Changes the latest call with this id: some providers number the calls of each message anew. */
function changeCall(
  draft: Draft,
  event: { readonly seq: number; readonly callId: string; readonly toolName: string },
  change: Partial<CallItem>,
): void {
  const { items } = draft;
  const index = items.findLastIndex(
    (item) => item.kind === 'call' && item.callId === event.callId && item.result === null,
  );
  const call = items[index];
  if (call?.kind === 'call') items[index] = { ...call, ...change };
  else items.push({ ...newCall(event.seq, event.callId, event.toolName, ''), ...change });
}

/** A process that took the turn over asks for the same approval again. */
function changeApproval(
  { items, sessions }: Draft,
  { seq, approvalId }: { readonly seq: number; readonly approvalId: string },
  change: Partial<ApprovalItem>,
): void {
  const index = items.findLastIndex(
    (item) => item.kind === 'approval' && item.approvalId === approvalId,
  );
  const found = items[index];
  const place = found?.kind === 'approval' ? index : items.length;
  const before: ApprovalItem =
    found?.kind === 'approval'
      ? found
      : { kind: 'approval', seq, approvalId, sessionId: null, outcome: null };
  const item = { ...before, ...change };
  items[place] = item;
  const session = item.sessionId === null ? undefined : sessions.get(item.sessionId);
  if (session === undefined) return;
  // What is asked anew may be asked before the question that it replaces is closed.
  const isPending = item.outcome === null;
  if (isPending || session.pendingApproval === approvalId)
    sessions.set(session.sessionId, { ...session, pendingApproval: isPending ? approvalId : null });
}

function takeSession(draft: Draft, event: Extract<RunEvent, { type: 'write_session' }>): void {
  const { status, targetFile, operation, bytes, lines, durableBytes, seam } = event;
  const seams = draft.sessions.get(event.sessionId)?.seams ?? [];
  changeSession(draft, event, {
    ...(event.recovered === true ? { isRecovered: true } : {}),
    status,
    targetFile,
    operation,
    lines,
    received: bytes,
    synced: durableBytes,
    // The receipt has all of them, with the lines of the file.
    seams: event.receipt?.seams ?? (seam === undefined ? seams : [...seams, seam]),
    corrections: event.corrections ?? null,
    code: event.code ?? null,
    paused: event.paused ?? null,
    receipt: event.receipt ?? null,
  });
}

function takeBack(draft: Draft, event: Extract<RunEvent, { type: 'write_rewind' }>): void {
  const { received = 0, setAside = [] } = draft.sessions.get(event.sessionId) ?? {};
  const bytes = Math.max(0, received - event.toOffset);
  changeSession(draft, event, {
    received: event.toOffset,
    setAside: bytes === 0 ? setAside : [...setAside, { at: event.toOffset, bytes }],
  });
}

function changeSession(
  draft: Draft,
  { sessionId, seq }: { readonly sessionId: string; readonly seq: number },
  change: Partial<SessionView>,
): void {
  const found = draft.sessions.get(sessionId);
  if (found === undefined) draft.items.push({ kind: 'session', seq, sessionId });
  const session = { ...(found ?? newSession(sessionId)), ...change };
  // What is not in the text any more is not on the disk for it either.
  const synced = Math.min(session.synced, session.received);
  const saved =
    session.saved === null ? null : Math.min(Math.max(session.saved, synced), session.received);
  // What was held up is safe: the disk takes text again.
  const isHeldUp = change.isHeldUp ?? (session.isHeldUp && synced <= (found?.synced ?? 0));
  draft.sessions.set(sessionId, { ...session, synced, saved, isHeldUp });
}

function newSession(sessionId: string): SessionView {
  return {
    sessionId,
    status: 'session_active.awaiting_content',
    targetFile: '',
    operation: null,
    received: 0,
    synced: 0,
    saved: null,
    isHeldUp: false,
    isRecovered: false,
    lines: 0,
    seams: [],
    setAside: [],
    corrections: null,
    code: null,
    pendingApproval: null,
    paused: null,
    receipt: null,
  };
}

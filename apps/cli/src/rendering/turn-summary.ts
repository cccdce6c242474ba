import type {
  ErrorInfo,
  PausedSession,
  RunEvent,
  StopReason,
  TurnStatus,
  Usage,
  WriteReceipt,
} from '@orion/contracts';

/** What is known of a turn from its events so far. */
export type TurnSummary = {
  readonly requestId: string | null;
  /** Null until `done`. */
  readonly status: TurnStatus | null;
  readonly stopReason: StopReason | null;
  readonly lastError: ErrorInfo | null;
  readonly receipts: readonly WriteReceipt[];
  readonly paused: readonly PausedSession[];
  /** Whether a write session was begun and neither committed nor given up. */
  readonly sessionOpen: boolean;
  readonly usage: Usage;
};

export const EMPTY_SUMMARY: TurnSummary = {
  requestId: null,
  status: null,
  stopReason: null,
  lastError: null,
  receipts: [],
  paused: [],
  sessionOpen: false,
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 },
};

export function addToSummary(summary: TurnSummary, event: RunEvent): TurnSummary {
  switch (event.type) {
    // Text is most of what arrives and changes nothing here.
    case 'chunk':
    case 'write_chunk':
    case 'write_progress':
    case 'write_rewind':
    case 'phase':
    case 'rewind':
    case 'tool_calls':
    case 'tool_progress':
    case 'tool_result':
    case 'approval_requested':
    case 'approval_decided':
      return summary.requestId === null ? { ...summary, requestId: event.requestId } : summary;
    case 'write_session': {
      const paused = summary.paused.filter((session) => session.session_id !== event.sessionId);
      return {
        ...summary,
        requestId: event.requestId,
        sessionOpen: event.status !== 'done' && event.status !== 'aborted',
        receipts:
          event.receipt === undefined ? summary.receipts : [...summary.receipts, event.receipt],
        paused: event.paused === undefined ? paused : [...paused, event.paused],
      };
    }
    case 'usage':
      return {
        ...summary,
        requestId: event.requestId,
        usage: {
          inputTokens: summary.usage.inputTokens + event.inputTokens,
          outputTokens: summary.usage.outputTokens + event.outputTokens,
          cachedTokens: summary.usage.cachedTokens + event.cachedTokens,
          reasoningTokens: summary.usage.reasoningTokens + event.reasoningTokens,
        },
      };
    case 'error':
      return { ...summary, requestId: event.requestId, lastError: event.error };
    case 'done':
      return {
        ...summary,
        requestId: event.requestId,
        status: event.status,
        stopReason: event.stopReason ?? null,
      };
    default:
      return event satisfies never;
  }
}

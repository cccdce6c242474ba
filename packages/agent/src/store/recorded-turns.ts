import { isFields } from '@orion/contracts';
import type { TraceEvent, TraceStore } from '@orion/contracts';

/** A turn as its traces show it. */
export type RecordedTurn = {
  readonly requestId: string;
  readonly projectId: string | null;
  /** What it was about, such as a message or a recovery. */
  readonly task: string | null;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  /** Null while it runs, or when its process died. */
  readonly status: string | null;
  readonly durationMs: number | null;
  /** The number of its first event. */
  readonly eventId: number;
};

/** The turns that were recorded, newest first: those that began before the event with a number, or the latest. */
export async function listRecordedTurns(
  traces: Pick<TraceStore, 'query'>,
  filter: { readonly projectId?: string; readonly beforeId?: number; readonly limit: number },
): Promise<readonly RecordedTurn[]> {
  const started = await traces.query({ type: 'turn_started', ...filter });
  return Promise.all(
    started.toReversed().map(async (event) => {
      const requestId = event.requestId ?? '';
      const [end] = await traces.query({ type: 'turn_ended', requestId, limit: 1 });
      return {
        requestId,
        projectId: event.projectId,
        task: textOf(event, 'task'),
        startedAt: event.timestamp,
        status: end === undefined ? null : textOf(end, 'status'),
        durationMs: end === undefined ? null : end.timestamp - event.timestamp,
        eventId: event.id,
      };
    }),
  );
}

function textOf({ details }: TraceEvent, name: string): string | null {
  const value = isFields(details) ? details[name] : null;
  return typeof value === 'string' ? value : null;
}

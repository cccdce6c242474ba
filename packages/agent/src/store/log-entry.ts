import type { JsonValue, RunEvent, TurnLogEvent } from '@orion/contracts';

/**
 * An event as the turn log keeps it: its number and type beside the rest. Content of a file is not kept, only where
 * it stands; `runEventOf` gives `null` for it.
 */
export function logEventOf(event: RunEvent): TurnLogEvent {
  const { seq, type, ...rest } = event;
  return {
    seq,
    kind: type,
    data: (type === 'write_chunk' ? withoutContent(rest) : rest) as unknown as JsonValue,
  };
}

function withoutContent(rest: object): object {
  const { content: _, ...place } = rest as { readonly content?: unknown };
  return place;
}

/** The event again, as every reader of the log sees it. */
export function runEventOf(entry: TurnLogEvent): RunEvent {
  return {
    ...(entry.data as object),
    ...(entry.kind === 'write_chunk' ? { content: null } : {}),
    seq: entry.seq,
    type: entry.kind,
  } as unknown as RunEvent;
}

/** How much of it the log keeps, in characters of the parts that a model can make long. */
export function charactersOf(event: RunEvent): number {
  switch (event.type) {
    case 'chunk':
      return event.content.length;
    case 'tool_calls':
      return event.calls.reduce((sum, call) => sum + call.arguments.length, 0);
    case 'tool_progress':
      return event.message.length;
    case 'tool_result':
      return event.summary.length + (event.error?.message.length ?? 0);
    case 'approval_requested':
      return JSON.stringify(event.action).length;
    case 'approval_decided':
      return event.reason?.length ?? 0;
    case 'done':
    case 'phase':
    case 'rewind':
    case 'write_chunk':
    case 'write_progress':
    case 'write_rewind':
    case 'write_session':
    case 'usage':
    case 'error':
      return 0;
    default:
      return event satisfies never;
  }
}

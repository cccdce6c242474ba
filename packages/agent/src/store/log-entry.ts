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

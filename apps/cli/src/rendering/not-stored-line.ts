import type { NotStored } from '@orion/agent';

import { plural } from '../terminal/format.ts';

/** What the store, or a collector of telemetry, did not take, as a person reads it in the end. */
export function notStoredLines({
  turnEvents,
  conversations,
  traceEvents,
  spans,
}: NotStored): readonly string[] {
  const parts = [
    ...(conversations > 0 ? [plural(conversations, 'conversation')] : []),
    ...(turnEvents > 0 ? [`${plural(turnEvents, 'event')} of the turn log`] : []),
    ...(traceEvents > 0 ? [plural(traceEvents, 'trace event')] : []),
  ];
  const last = parts.at(-1) ?? '';
  const list = parts.length === 1 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
  return [
    ...(parts.length === 0
      ? []
      : [
          `Not stored, since the store was away, full or too slow: ${list}. No file and no write session depends on it.`,
        ]),
    ...(spans === 0 ? [] : [`The collector of telemetry did not take ${plural(spans, 'span')}.`]),
  ];
}

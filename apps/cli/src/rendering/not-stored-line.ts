import type { NotStored } from '@orion/agent';

import { plural } from '../terminal/format.ts';

/** What a person is told in the end of a store that did not take everything; null when it did. */
export function notStoredLine({
  turnEvents,
  conversations,
  traceEvents,
}: NotStored): string | null {
  const parts = [
    ...(conversations > 0 ? [plural(conversations, 'conversation')] : []),
    ...(turnEvents > 0 ? [`${plural(turnEvents, 'event')} of the turn log`] : []),
    ...(traceEvents > 0 ? [plural(traceEvents, 'trace event')] : []),
  ];
  if (parts.length === 0) return null;
  const last = parts.at(-1) ?? '';
  const list = parts.length === 1 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
  return `Not stored, since the store was away, full or too slow: ${list}. Files and write sessions are complete.`;
}

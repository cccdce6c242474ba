import type { TraceEvent } from '@orion/contracts';

/** Log lines stay short enough to read. */
const MAX_LENGTH = 500;

/** A trace event as one line. */
export function traceLine(event: TraceEvent): string {
  const time = new Date(event.timestamp).toISOString().slice(11, 23);
  const details = event.error ?? event.details;
  const parts = [
    `${time} ${event.type}`,
    event.toolName,
    event.summary,
    details === null ? null : JSON.stringify(details),
  ];
  return parts
    .filter((part) => part !== null && part !== '')
    .join(' ')
    .slice(0, MAX_LENGTH);
}

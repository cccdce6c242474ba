import type { TraceEvent } from '@orion/contracts';

/**
 * One event as one line of JSON, ending with a line feed, for `orion trace export`. The top level has the fields of
 * `TraceEvent` and no others, whatever was recorded. Anything that a terminal or a line reader could take for the end of
 * the line is escaped.
 */
export function toExportLine(event: TraceEvent): string {
  const json = JSON.stringify({
    id: event.id,
    timestamp: new Date(event.timestamp).toISOString(),
    type: event.type,
    projectId: event.projectId,
    requestId: event.requestId,
    sessionId: event.sessionId,
    source: event.source,
    summary: event.summary,
    direction: event.direction,
    toolName: event.toolName,
    phaseIndex: event.phaseIndex,
    cycleIndex: event.cycleIndex,
    details: event.details,
    error: event.error,
    metadata: event.metadata,
    truncated: event.truncated,
  });
  return `${json.replaceAll(UNSAFE, escape)}\n`;
}

/** JSON itself escapes the characters below U+0020. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]/g;

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

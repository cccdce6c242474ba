import { cutText } from '@orion/contracts';
import type { TraceEvent } from '@orion/contracts';
import { escapeForTerminal } from './escape-for-terminal.ts';

export const MAX_TRACE_LINE = 500;

/**
 * One event as one line for a person, without a line ending: at most 500 characters, with nothing that a terminal would
 * act on or that could pass for another line (R014, R254).
 */
export function formatTraceLine(event: TraceEvent): string {
  const facts = [
    new Date(event.timestamp).toISOString().slice(-13, -1),
    event.type,
    event.toolName,
    event.phaseIndex === null ? null : `phase=${event.phaseIndex}`,
    event.cycleIndex === null ? null : `cycle=${event.cycleIndex}`,
    event.sessionId === null ? null : `session=${event.sessionId}`,
    event.summary,
    event.error === null ? null : `error=${JSON.stringify(event.error)}`,
    event.raw === '{}' ? null : event.raw,
  ];
  const line = facts
    .filter((fact) => fact !== null)
    .filter((fact) => fact !== '')
    // Escaping only makes text longer, so nothing beyond this could be shown.
    .map((fact) => escapeForTerminal(fact.slice(0, MAX_TRACE_LINE + 1)))
    .join(' ');
  if (line.length <= MAX_TRACE_LINE) return line;
  return `${cutText(line, MAX_TRACE_LINE - 1)}…`;
}

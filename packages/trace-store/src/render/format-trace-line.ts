import type { TraceEvent } from '@orion/contracts';

export const MAX_TRACE_LINE = 500;

/**
 * One event as one line for a person, without a line ending: at most 500 characters, and nothing in it that a
 * terminal would act on or that could pass for another line (R014, R254).
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
    .filter((fact) => fact !== null && fact !== '')
    // Nothing longer can be shown, and escaping makes a text only longer.
    .map((fact) => escapeForTerminal((fact ?? '').slice(0, MAX_TRACE_LINE + 1)))
    .join(' ');
  if (line.length <= MAX_TRACE_LINE) return line;
  return `${line.slice(0, MAX_TRACE_LINE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** C0, DEL, C1, line and paragraph separators, bidi controls, invisible and tag characters, lone surrogates. */
const UNSAFE =
  // oxlint-disable-next-line no-control-regex -- control characters are what is escaped
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

function escapeForTerminal(text: string): string {
  return text.replaceAll(
    UNSAFE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

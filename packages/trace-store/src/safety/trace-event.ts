import type { JsonValue, TraceEvent, TraceInput } from '@orion/contracts';
import { textFacts, toSafeJson } from './json-safety.ts';
import { redact, redactText } from './redaction.ts';

/**
 * From what a caller records to what a backend stores, the same for every backend.
 *
 * 1. Safe JSON first, then redaction, then the limits: what is cut is cut of text that holds no secret.
 * 2. `raw` is the JSON text of `details`, at most 64 KiB of UTF-8. Where the text of `details` is longer, `raw`
 *    is its start, and `details` says how long the whole is and what its hash is.
 * 3. An index of 0 is 0 (R225).
 */
export const MAX_EVENT_BYTES: number = 64 * 1024;
const MAX_TYPE = 50;
const MAX_NAME = 255;
const MAX_SUMMARY = 2048;
/** Of `error` and `metadata` each; what they and `details` take together stays within twice the event's limit. */
const MAX_SIDE_BYTES = 16 * 1024;
const PREVIEW = 1024;

export type TraceEventDraft = Omit<TraceEvent, 'id'>;

/** Both forms of `record` as one. */
export function toTraceInput(event: TraceInput | string, data: unknown): TraceInput {
  return typeof event === 'string' ? { type: event, details: data } : event;
}

export function prepareTraceEvent(input: TraceInput, now: number): TraceEventDraft {
  const details = bounded(input.details ?? {}, MAX_EVENT_BYTES);
  const error = bounded(input.error ?? null, MAX_SIDE_BYTES);
  const metadata = bounded(input.metadata ?? null, MAX_SIDE_BYTES);
  const { timestamp } = input;
  return {
    type: name(input.type, MAX_TYPE) ?? 'unknown',
    projectId: name(input.projectId, MAX_NAME),
    requestId: name(input.requestId, MAX_NAME),
    sessionId: name(input.sessionId, MAX_NAME),
    source: clean(input.source, MAX_NAME),
    summary: clean(input.summary, MAX_SUMMARY),
    direction: input.direction === 'in' || input.direction === 'out' ? input.direction : null,
    toolName: clean(input.toolName, MAX_NAME),
    phaseIndex: index(input.phaseIndex),
    cycleIndex: index(input.cycleIndex),
    timestamp: isDate(timestamp) ? timestamp : now,
    details: details.value,
    error: error.value,
    metadata: metadata.value,
    raw: details.raw,
    truncated: details.truncated || error.truncated || metadata.truncated,
  };
}

type Bounded = { readonly value: JsonValue; readonly raw: string; readonly truncated: boolean };

function bounded(value: unknown, maxBytes: number): Bounded {
  const safe = toSafeJson(value);
  const clean = redact(safe.value);
  const raw = JSON.stringify(clean);
  if (Buffer.byteLength(raw) <= maxBytes) return { value: clean, raw, truncated: safe.truncated };
  const summary = {
    type: 'truncated',
    truncated: true,
    ...textFacts(raw),
    start: raw.slice(0, PREVIEW),
  };
  return { value: summary, raw: cutToBytes(raw, maxBytes), truncated: true };
}

/** The longest start of a text that is at most so many bytes of UTF-8; never half a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** An id or a type: kept as it is, since it is looked up by its exact text. */
function name(value: unknown, limit: number): string | null {
  if (value === undefined || value === null) return null;
  return (typeof value === 'string' ? value : JSON.stringify(toSafeJson(value).value)).slice(
    0,
    limit,
  );
}

function clean(value: unknown, limit: number): string | null {
  const text = name(value, limit * 4);
  return text === null ? null : redactText(text).slice(0, limit);
}

function index(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Milliseconds that a `Date` can hold; anything else could not be shown or compared. */
function isDate(timestamp: unknown): timestamp is number {
  return typeof timestamp === 'number' && Math.abs(timestamp) <= 8.64e15;
}

import type { JsonValue, Redact, TraceEvent, TraceFilter, TraceInput } from '@orion/contracts';
import { toProjection, toStorableText } from './json-projection.ts';
import { textFacts, toSafeJson } from './json-safety.ts';
import { redact, redactedStart } from './redaction.ts';

/**
 * From what a caller records to what a backend stores, the same for every backend.
 *
 * 1. Safe JSON first, then redaction, then the limits: only text without secrets is ever cut.
 * 2. `raw` is the JSON text of `details`, at most 64 KiB of UTF-8. If that text is longer, `raw` is its beginning, and
 *    `details` has the length and hash of the whole.
 * 3. An index of 0 is 0 (R225).
 * 4. Every backend returns the same: names, `error` and `metadata` contain nothing that a database refuses; only `raw`,
 *    and `details`, which is read from it, are exact.
 */
export const MAX_EVENT_BYTES: number = 64 * 1024;
const MAX_TYPE = 50;
const MAX_NAME = 255;
const MAX_SUMMARY = 2048;
const MAX_INDEX = 2_147_483_647;
/** For `error` and `metadata` each; together with `details` they stay within twice the limit of an event. */
const MAX_SIDE_BYTES = 16 * 1024;
const PREVIEW = 1024;

export type TraceEventDraft = Omit<TraceEvent, 'id'>;

/** Turns both forms of `record` into one. */
export function toTraceInput(event: TraceInput | string, data: unknown): TraceInput {
  return typeof event === 'string' ? { type: event, details: data } : event;
}

/** An event and the JSON texts for a database; null where there is nothing. */
export type PreparedTrace = {
  readonly event: TraceEventDraft;
  /** The projection of `details`, for queries. */
  readonly body: string;
  readonly error: string | null;
  readonly metadata: string | null;
};

/** `hide` removes the keys in use. */
export function prepareTrace(
  input: TraceInput,
  now: number,
  hide: Redact = (text) => text,
): PreparedTrace {
  const details = bounded(input.details ?? {}, MAX_EVENT_BYTES, hide);
  const error = side(input.error, hide);
  const metadata = side(input.metadata, hide);
  const { timestamp } = input;
  return {
    event: {
      type: name(input.type, MAX_TYPE) ?? 'unknown',
      projectId: name(input.projectId, MAX_NAME),
      requestId: name(input.requestId, MAX_NAME),
      sessionId: name(input.sessionId, MAX_NAME),
      source: clean(input.source, MAX_NAME, hide),
      summary: clean(input.summary, MAX_SUMMARY, hide),
      direction: input.direction === 'in' || input.direction === 'out' ? input.direction : null,
      toolName: clean(input.toolName, MAX_NAME, hide),
      phaseIndex: index(input.phaseIndex),
      cycleIndex: index(input.cycleIndex),
      timestamp: Math.trunc(isDate(timestamp) ? timestamp : now),
      details: details.value,
      error: error.value,
      metadata: metadata.value,
      raw: details.raw,
      truncated: details.truncated || error.truncated || metadata.truncated,
    },
    body: toProjection(details.text),
    error: error.text,
    metadata: metadata.text,
  };
}

export type StoredFilter = { readonly [Key in keyof TraceFilter]: TraceFilter[Key] | undefined };

/** The filter with its names in the form in which names are stored. */
export function toStoredFilter(filter: TraceFilter): StoredFilter {
  const stored = (text: string | undefined, limit: number): string | undefined =>
    text === undefined ? undefined : storable(text, limit);
  return {
    ...filter,
    projectId: stored(filter.projectId, MAX_NAME),
    requestId: stored(filter.requestId, MAX_NAME),
    sessionId: stored(filter.sessionId, MAX_NAME),
    type: stored(filter.type, MAX_TYPE),
  };
}

/** `text` is the JSON text of `value`; so is `raw`, unless it had to be cut. */
type Bounded = {
  readonly value: JsonValue;
  readonly text: string;
  readonly raw: string;
  readonly truncated: boolean;
};

function bounded(value: unknown, maxBytes: number, hide: Redact): Bounded {
  const safe = toSafeJson(value, hide);
  const clean = redact(safe.value, hide);
  const raw = JSON.stringify(clean);
  if (Buffer.byteLength(raw) <= maxBytes) {
    return { value: clean, text: raw, raw, truncated: safe.truncated };
  }
  const summary = {
    type: 'truncated',
    truncated: true,
    ...textFacts(raw),
    start: raw.slice(0, PREVIEW),
  };
  return {
    value: summary,
    text: JSON.stringify(summary),
    raw: cutToBytes(raw, maxBytes),
    truncated: true,
  };
}

/** `error` or `metadata`, of which only the projection is kept. */
function side(
  value: unknown,
  hide: Redact,
): {
  readonly value: JsonValue;
  readonly text: string | null;
  readonly truncated: boolean;
} {
  if (value === undefined || value === null) return { value: null, text: null, truncated: false };
  const whole = bounded(value, MAX_SIDE_BYTES, hide);
  const text = toProjection(whole.text);
  return {
    value: text === whole.text ? whole.value : (JSON.parse(text) as JsonValue),
    text,
    truncated: whole.truncated,
  };
}

/** The longest beginning of a text that fits into so many bytes of UTF-8; never half a character. */
export function cutToBytes(text: string, maxBytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

/** An id or a type: changed only where no database could store it, because it is looked up by its text. */
function name(value: unknown, limit: number): string | null {
  const text = textOf(value);
  return text === null ? null : storable(text, limit);
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(toSafeJson(value).value);
}

function storable(text: string, limit: number): string {
  return toStorableText(text.slice(0, limit));
}

function clean(value: unknown, limit: number, hide: Redact): string | null {
  const text = textOf(value);
  return text === null ? null : storable(redactedStart(text, limit, hide), limit);
}

/** An integer that fits into an integer column of every database. */
function index(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAX_INDEX
    ? value + 0
    : null;
}

/** Milliseconds that a `Date` can represent; anything else could not be shown or compared. */
function isDate(timestamp: unknown): timestamp is number {
  return typeof timestamp === 'number' && Math.abs(timestamp) <= 8.64e15;
}

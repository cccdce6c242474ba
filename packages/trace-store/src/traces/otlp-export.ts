import { randomBytes } from 'node:crypto';
import { sleep } from '@orion/contracts';
import type { Clock } from '@orion/contracts';
import { describeThrown } from '../safety/json-safety.ts';
import type { OpenSpan, SpanAttributes, SpanSink } from './span-export.ts';

export type OtlpExportOptions = {
  readonly clock: Clock;
  /** The complete address, as in `http://localhost:4318/v1/traces`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The limit for one request; 10,000 when left out. */
  readonly timeoutMs?: number;
  /** Describes what the spans come from; `service.name` is `orion` when left out. */
  readonly resource?: Readonly<Record<string, string>>;
};

export interface OtlpExport extends SpanSink {
  /** The number of spans that the collector did not accept, and the last reason. */
  lost(): { readonly spans: number; readonly reason: string | null };
  /** Sends what is left, once, and takes half a second at most. Never rejects. */
  close(): Promise<void>;
}

const TIMEOUT_MS = 10_000;
/** How long spans wait for others, to be sent together. */
const BATCH_MS = 5_000;
const CLOSE_MS = 500;
/** The number of spans in one request, and of spans that may wait. */
const BATCH = 512;
const MAX_QUEUED = 2_048;
const RETRY_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000];
const MAX_RETRY_AFTER_MS = 30_000;
/** Answers after which the protocol requires the same request to be sent again. */
const PASSING: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const SCOPE = { name: 'orion' };
const KINDS = { internal: 1, client: 3 } as const;
const STATUS_ERROR = 2;

/**
 * Spans to a collector, as OTLP over HTTP in its JSON form.
 *
 * 1. A span is queued when it ends; that never blocks, and the queue is bounded.
 * 2. One request at a time. Refused spans are not sent again; if the collector is unreachable or overloaded, the same
 *    spans are retried a few times.
 * 3. No error contains a header.
 */
export function createOtlpExport(options: OtlpExportOptions): OtlpExport {
  const { clock } = options;
  const collector = createCollector(options);
  const ids = new WeakMap<OpenSpan, { readonly traceId: string; readonly spanId: string }>();
  const queue: object[] = [];
  let lost = 0;
  let reason: string | null = null;
  let sending: Promise<void> | null = null;
  let cancelTimer: (() => void) | null = null;
  let closed: Promise<void> | null = null;

  const lose = (spans: number, why: string): void => {
    lost += spans;
    reason = why;
  };

  const put = (span: object): void => {
    if (closed !== null) {
      lose(1, 'it ended after the export');
    } else if (queue.length >= MAX_QUEUED) {
      lose(1, 'too many spans wait for the collector');
    } else {
      queue.push(span);
      if (queue.length >= BATCH) start();
      else cancelTimer ??= clock.schedule(BATCH_MS, start);
    }
  };

  const start = (): void => {
    cancelTimer?.();
    cancelTimer = null;
    if (sending !== null || queue.length === 0) return;
    sending = sendAll().finally(() => {
      sending = null;
      // Spans that arrived meanwhile are a batch of their own.
      if (queue.length > 0 && closed === null) cancelTimer ??= clock.schedule(BATCH_MS, start);
    });
  };

  const sendAll = async (): Promise<void> => {
    do {
      const spans = queue.splice(0, BATCH);
      const failure = await collector.send(spans);
      if (failure !== null) lose(spans.length, failure);
    } while (queue.length >= BATCH || (closed !== null && queue.length > 0));
  };

  const finish = async (): Promise<void> => {
    const cancel = clock.schedule(CLOSE_MS, () => collector.cut());
    if (sending !== null) await sending;
    start();
    if (sending !== null) await (sending as Promise<void>);
    cancel();
  };

  return {
    start({ name, kind, at, parent, attributes }) {
      const above = parent === null ? undefined : ids.get(parent);
      const traceId = above?.traceId ?? randomBytes(16).toString('hex');
      const spanId = randomBytes(8).toString('hex');
      const span: OpenSpan = {
        end(endAt, more, error) {
          put({
            traceId,
            spanId,
            ...(above === undefined ? {} : { parentSpanId: above.spanId }),
            name,
            kind: KINDS[kind],
            startTimeUnixNano: nanoseconds(at),
            endTimeUnixNano: nanoseconds(endAt),
            attributes: toAttributes({
              ...attributes,
              ...more,
              ...(error === null ? {} : { 'error.type': error }),
            }),
            status: error === null ? {} : { code: STATUS_ERROR, message: error },
          });
        },
      };
      ids.set(span, { traceId, spanId });
      return span;
    },
    lost: () => ({ spans: lost, reason }),
    close() {
      collector.hurry();
      closed ??= Promise.resolve().then(finish);
      return closed;
    },
  };
}

/** Where batches of spans are sent, one request at a time. */
function createCollector(options: OtlpExportOptions): {
  /** Null if the spans were accepted, otherwise the reason why not. */
  send(spans: readonly object[]): Promise<string | null>;
  /** Ends the pause between two attempts; from now on failed spans are not sent again. */
  hurry(): void;
  cut(): void;
} {
  const { clock, url, headers, timeoutMs = TIMEOUT_MS } = options;
  const resource = { attributes: toAttributes({ 'service.name': 'orion', ...options.resource }) };
  const cut = new AbortController();
  const hurry = new AbortController();

  const post = async (body: string): Promise<Answer> => {
    const deadline = new AbortController();
    const cancel = clock.schedule(timeoutMs, () => deadline.abort());
    const signal = AbortSignal.any([deadline.signal, cut.signal]);
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
        redirect: 'error',
        signal,
      });
      await response.body?.cancel();
      return {
        why: response.ok ? null : `the collector answered ${response.status}`,
        isFinal: !PASSING.has(response.status),
        retryAfterMs: retryAfter(response.headers.get('retry-after')),
      };
    } catch (error) {
      const why = signal.aborted ? 'no answer' : causeOf(error);
      return { why, isFinal: false, retryAfterMs: null };
    } finally {
      cancel();
    }
  };

  return {
    async send(spans) {
      const scopeSpans = [{ scope: SCOPE, spans }];
      const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] });
      for (let attempt = 0; ; attempt += 1) {
        const { why, isFinal, retryAfterMs } = await post(body);
        const pause = RETRY_MS[attempt];
        if (why === null || isFinal || pause === undefined || hurry.signal.aborted) return why;
        await sleep(clock, retryAfterMs ?? pause, hurry.signal);
      }
    },
    hurry: () => hurry.abort(),
    cut: () => cut.abort(),
  };
}

/** `why` is the reason why the spans were not accepted, or null. */
type Answer = {
  readonly why: string | null;
  readonly isFinal: boolean;
  readonly retryAfterMs: number | null;
};

type AttributeValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AttributeValue[] } };

function toAttributes(
  attributes: SpanAttributes,
): readonly { readonly key: string; readonly value: AttributeValue }[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: toValue(value) }));
}

function toValue(value: SpanAttributes[string]): AttributeValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'number') {
    // In this JSON a 64-bit number is a text.
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  return { arrayValue: { values: value.map((each) => ({ stringValue: each })) } };
}

function nanoseconds(milliseconds: number): string {
  return `${Math.round(milliseconds)}000000`;
}

/** Reads seconds; the other form, a date, is ignored. */
function retryAfter(text: string | null): number | null {
  const seconds = Number(text);
  return seconds > 0 ? Math.min(seconds * 1_000, MAX_RETRY_AFTER_MS) : null;
}

/** `fetch` only says that it failed; the cause says why. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return describeThrown(error);
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

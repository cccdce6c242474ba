export { createMemoryTraceStore } from './memory/memory-trace-store.ts';
export type { MemoryTraceStoreOptions } from './memory/memory-trace-store.ts';
export type { DatabaseObserver } from './engine/lazy-database.ts';
export { adoptStore, findForeignStore } from './adopt-store.ts';
export type { ForeignStore } from './adopt-store.ts';
export type { StoreOwner } from './engine/store-owner.ts';
export { openStore } from './open-store.ts';
export type { Store, StoreLocation, StoreOptions } from './open-store.ts';
export { formatTimeline } from './render/format-timeline.ts';
export type { TimelineOptions } from './render/format-timeline.ts';
export { toExportLine } from './render/to-export-line.ts';
export { MAX_TRACE_LINE, formatTraceLine } from './render/format-trace-line.ts';
export { createOpenTelemetrySink, createSpanExport } from './traces/span-export.ts';
export type {
  OpenSpan,
  OpenTelemetryApi,
  OpenTelemetrySpan,
  SpanAttributes,
  SpanSink,
} from './traces/span-export.ts';
export { createOtlpExport } from './traces/otlp-export.ts';
export type { OtlpExport, OtlpExportOptions } from './traces/otlp-export.ts';
export { redact, redactText } from './safety/redaction.ts';
export { toSafeJson } from './safety/json-safety.ts';
export type { SafeJson } from './safety/json-safety.ts';

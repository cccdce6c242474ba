import { expect, test } from 'vitest';
import * as exported from './index.ts';

test('exports what others build on, and nothing else', () => {
  expect(Object.keys(exported).sort()).toEqual([
    'MAX_TRACE_LINE',
    'adoptStore',
    'createMemoryTraceStore',
    'createOpenTelemetrySink',
    'createOtlpExport',
    'createSpanExport',
    'findForeignStore',
    'formatTimeline',
    'formatTraceLine',
    'openStore',
    'redact',
    'redactText',
    'toExportLine',
    'toSafeJson',
  ]);
});

import { KeysInUse } from '@orion/contracts';
import type { TraceEvent, TraceStore } from '@orion/contracts';
import { createFakeClock } from '@orion/testkit';
import { expect, test } from 'vitest';
import { createMemoryTraceStore } from '../memory/memory-trace-store.ts';
import { openStore } from '../open-store.ts';
import { createSpanExport } from './span-export.ts';
import type { SpanSink } from './span-export.ts';

/** Hazard: a key that only its letters tell is in a trace, or in a span that is made of it. */

const KEY = 'only its letters tell';
const clock = createFakeClock();

function record(store: TraceStore): void {
  const long = `${'x'.repeat(250)}${KEY}`;
  store.record({ type: 'turn_started', requestId: 'turn', details: { protocol: KEY } });
  store.record({
    type: 'tool_call',
    requestId: 'turn',
    toolName: long,
    summary: `${'x'.repeat(2040)}${KEY}`,
    source: KEY,
    details: {
      treatment: 'run',
      callId: KEY,
      [KEY]: [KEY, Buffer.from(`a:${KEY}`).toString('base64')],
      error: new Error(KEY),
    },
    error: { message: KEY },
    metadata: encodeURIComponent(KEY),
  });
}

test.each(['memory', 'sqlite'] as const)('no event of a store in %s holds it', async (kind) => {
  const seen: TraceEvent[] = [];
  const { redact } = new KeysInUse([KEY]);
  const options = { redact, onEvent: (event: TraceEvent) => void seen.push(event) };
  if (kind === 'memory') {
    record(createMemoryTraceStore({ clock, ...options }));
  } else {
    const store = openStore({ kind: 'memory' }, { clock, traces: options });
    record(store.traces);
    await store.close();
  }
  expect(seen).toHaveLength(2);
  expect(JSON.stringify(seen)).not.toMatch(/only|letters|tell/u);
  expect(seen[1]).toMatchObject({ source: '[REDACTED]', toolName: `${'x'.repeat(250)}[REDA` });

  const spans: unknown[] = [];
  const sink: SpanSink = {
    start: (...span) => {
      spans.push(span);
      return { end: (...rest) => void spans.push(rest) };
    },
  };
  seen.forEach(createSpanExport(sink));
  expect(spans).toHaveLength(2);
  expect(JSON.stringify(spans)).not.toMatch(/only|letters|tell/u);
});

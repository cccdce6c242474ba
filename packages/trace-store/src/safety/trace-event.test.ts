import { expect, test } from 'vitest';
import { MAX_EVENT_BYTES, cutToBytes, prepareTraceEvent } from './trace-event.ts';

test('of a long payload raw keeps the start, details its length and hash', () => {
  const list = Array.from({ length: 2000 }, (_, index) => `${index} äöü ${'x'.repeat(60)}`);
  const event = prepareTraceEvent({ type: 'big', details: { list } }, 0);
  const whole = JSON.stringify({ list });
  expect(event.truncated).toBe(true);
  expect(whole.startsWith(event.raw)).toBe(true);
  expect(Buffer.byteLength(event.raw)).toBeGreaterThan(MAX_EVENT_BYTES - 4);
  expect(event.details).toMatchObject({
    truncated: true,
    length: whole.length,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test('a long error or metadata is bounded on its own', () => {
  const long = Array.from({ length: 1000 }, () => 'x'.repeat(100));
  const event = prepareTraceEvent({ type: 'x', details: { a: 1 }, error: long, metadata: long }, 0);
  expect(event).toMatchObject({
    details: { a: 1 },
    error: { truncated: true },
    metadata: { truncated: true },
    truncated: true,
  });
});

test('a plain text is an error, and a lone surrogate is escaped in raw', () => {
  const event = prepareTraceEvent({ type: 'x', error: 'broken', details: '\ud800\u0000' }, 0);
  expect(event.error).toBe('broken');
  expect(event.raw).toBe('"\\ud800\\u0000"');
});

test('fields of the wrong kind never get in', () => {
  const event = prepareTraceEvent(
    {
      type: undefined,
      phaseIndex: Number.NaN,
      cycleIndex: '0',
      timestamp: Infinity,
      direction: 'up',
      summary: { a: 1n },
      requestId: 7,
    } as never,
    42,
  );
  expect(event).toMatchObject({
    type: 'unknown',
    phaseIndex: null,
    cycleIndex: null,
    timestamp: 42,
    direction: null,
    summary: '{"a":"1n"}',
    requestId: '7',
  });
});

test('a cut never halves a character', () => {
  expect(cutToBytes('aä😀', 6)).toBe('aä');
  expect(cutToBytes('aä😀', 7)).toBe('aä😀');
});

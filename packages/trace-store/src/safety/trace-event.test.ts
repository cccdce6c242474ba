import { expect, test } from 'vitest';
import { MAX_EVENT_BYTES, cutToBytes, prepareTrace, toStoredFilter } from './trace-event.ts';

test('of a long payload raw keeps the start, details its length and hash', () => {
  const list = Array.from({ length: 2000 }, (_, index) => `${index} äöü ${'x'.repeat(60)}`);
  const event = prepareTrace({ type: 'big', details: { list } }, 0).event;
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
  const event = prepareTrace(
    { type: 'x', details: { a: 1 }, error: long, metadata: long },
    0,
  ).event;
  expect(event).toMatchObject({
    details: { a: 1 },
    error: { truncated: true },
    metadata: { truncated: true },
    truncated: true,
  });
});

test('a plain text is an error, and a lone surrogate is escaped in raw', () => {
  const event = prepareTrace({ type: 'x', error: 'broken', details: '\ud800\u0000' }, 0).event;
  expect(event.error).toBe('broken');
  expect(event.raw).toBe('"\\ud800\\u0000"');
});

test('fields of the wrong kind never get in', () => {
  const event = prepareTrace(
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
  ).event;
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

test('of each field so much is kept, and not a byte more', () => {
  const long = 'x'.repeat(3_000);
  const event = prepareTrace(
    {
      type: long,
      projectId: long,
      requestId: long,
      sessionId: long,
      source: long,
      summary: long,
      toolName: long,
      phaseIndex: 2_147_483_647,
      cycleIndex: 2_147_483_648,
      timestamp: 8.64e15,
    },
    7,
  ).event;
  expect({
    type: event.type.length,
    names: [event.projectId, event.requestId, event.sessionId, event.source, event.toolName].map(
      (name) => name?.length,
    ),
    summary: event.summary?.length,
    indexes: [event.phaseIndex, event.cycleIndex],
    timestamp: event.timestamp,
  }).toEqual({
    type: 50,
    names: [255, 255, 255, 255, 255],
    summary: 2_048,
    indexes: [2_147_483_647, null],
    timestamp: 8.64e15,
  });
  expect(prepareTrace({ type: 'x', timestamp: 8.64e15 + 2 }, 7).event.timestamp).toBe(7);
  expect(prepareTrace({ type: 'x', phaseIndex: -0 }, 7).event.phaseIndex).toBe(0);
  expect(prepareTrace({ type: 'x', phaseIndex: 0.5 }, 7).event.phaseIndex).toBeNull();
});

test('details are whole up to 64 KiB, error and metadata up to 16', () => {
  const whole = (bytes: number): readonly string[] => {
    const texts: string[] = [];
    // Two quotation marks, two brackets and commas are part of it; no text is long by itself.
    for (let left = bytes - 2; left > 0; left -= 1_003)
      texts.push('y'.repeat(Math.min(1_000, left - 2)));
    const made = JSON.stringify(texts).length;
    if (made !== bytes) texts[0] = 'y'.repeat(1_000 + bytes - made);
    return texts;
  };
  const truncated = (input: object): boolean =>
    prepareTrace({ type: 'x', ...input }, 0).event.truncated;
  expect(JSON.stringify(whole(65_536))).toHaveLength(65_536);
  expect(truncated({ details: whole(65_536) })).toBe(false);
  expect(truncated({ details: whole(65_537) })).toBe(true);
  for (const field of ['error', 'metadata']) {
    expect(truncated({ [field]: whole(16_384) })).toBe(false);
    expect(truncated({ [field]: whole(16_385) })).toBe(true);
  }
  const event = prepareTrace({ type: 'x', details: whole(70_000) }, 0).event;
  expect(event.raw).toHaveLength(65_536);
  expect(event.details).toMatchObject({ type: 'truncated', start: event.raw.slice(0, 1_024) });
});

test('a filter asks for names as they are stored', () => {
  const long = 'n'.repeat(300);
  expect(toStoredFilter({})).toEqual({});
  expect(
    toStoredFilter({ projectId: long, requestId: 'r\u0000', sessionId: long, type: long, from: 1 }),
  ).toEqual({
    projectId: 'n'.repeat(255),
    requestId: prepareTrace({ type: 'x', requestId: 'r\u0000' }, 0).event.requestId,
    sessionId: 'n'.repeat(255),
    type: 'n'.repeat(50),
    from: 1,
  });
});

import { setTimeout as wait } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { callsOf, errorOf, merged, textOf } from '../testing/streams.ts';
import type { Fault, Script, Shape } from './script.ts';
import { startScriptedProvider } from './server.ts';
import { talk, user } from './testing/conversation.ts';

const TEXT = Array.from({ length: 50 }, (_, index) => `line ${index + 1} – "é" 🎉\n`).join('');
const firstLines = (count: number): string => TEXT.split('\n').slice(0, count).join('\n') + '\n';

const failing = (fault: Fault, shape: Shape = {}): Script => ({
  behaviours: [{ reply: { text: TEXT }, faults: [fault], shape }],
});
const asked = [user('x')];

test('length stops after so many lines', async () => {
  const events = await (await talk(failing({ kind: 'length', at: { lines: 7 } }))).ask(asked);
  expect(textOf(events)).toBe(firstLines(7));
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length' });
});

test('length cuts a call', async () => {
  const { ask } = await talk({
    behaviours: [
      {
        reply: { toolCalls: [{ name: 'f', arguments: { content: 'x'.repeat(100) } }] },
        faults: [{ kind: 'length', at: { characters: 40 } }],
      },
    ],
  });
  const events = await ask(asked);
  expect(callsOf(events)).toMatchObject([{ state: 'cut' }]);
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length' });
});

test.for(['disconnect', 'reset'] as const)(
  '%s breaks the stream after what was sent',
  async (kind) => {
    const events = await (await talk(failing({ kind, at: { lines: 20 } }))).ask(asked);
    expect(firstLines(20).startsWith(textOf(events))).toBe(true);
    if (kind === 'disconnect') expect(textOf(events)).toBe(firstLines(20));
    expect(errorOf(events).code).toBe('STREAM_BROKEN');
  },
);

test('error comes in mid-stream, or after the finish reason', async () => {
  for (const afterFinish of [false, true]) {
    const fault: Fault = { kind: 'error', at: { lines: 3 }, type: 'overloaded_error', afterFinish };
    const events = await (await talk(failing(fault))).ask(asked);
    expect(textOf(events)).toBe(firstLines(3));
    expect(errorOf(events).code).toBe('PROVIDER_OVERLOADED');
  }
});

test('end leaves out the end mark', async () => {
  const cut = await (await talk(failing({ kind: 'end', at: { lines: 3 } }))).ask(asked);
  expect(textOf(cut)).toBe(firstLines(3));
  expect(errorOf(cut).code).toBe('STREAM_TRUNCATED');
  const whole = await (await talk(failing({ kind: 'end' }))).ask(asked);
  expect(textOf(whole)).toBe(TEXT);
  expect(errorOf(whole).code).toBe('STREAM_TRUNCATED');
});

test('stall keeps the connection open, and may continue', async () => {
  const { ask } = await talk(failing({ kind: 'stall', at: { lines: 3 } }));
  const controller = new AbortController();
  const stalled = ask(asked, { signal: controller.signal });
  expect(await Promise.race([stalled, wait(200, 'still waiting')])).toBe('still waiting');
  controller.abort();
  expect(errorOf(await stalled).code).toBe('ABORTED');
  const paused = await talk(failing({ kind: 'stall', at: { lines: 3 }, forMs: 30 }));
  const events = await paused.ask(asked);
  expect(textOf(events)).toBe(TEXT);
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop' });
});

test('a hurry ends a stall, a delay and the pace', async () => {
  const shape = { chunk: 1, eventsPerSecond: 1, firstDelayMs: 600_000 };
  for (const script of [
    failing({ kind: 'stall', at: { lines: 3 } }),
    { behaviours: [{ reply: { text: TEXT }, shape }] },
  ]) {
    const { ask, provider } = await talk(script);
    const answer = ask(asked);
    await vi.waitUntil(() => provider.requests.length === 1);
    provider.hurry();
    expect(textOf(await answer)).toBe(TEXT);
    expect(textOf(await ask(asked))).toBe(TEXT);
  }
});

test.for([
  [429, 'PROVIDER_RATE_LIMIT'],
  [500, 'PROVIDER_ERROR'],
  [503, 'PROVIDER_OVERLOADED'],
  [529, 'PROVIDER_OVERLOADED'],
] as const)('status %i', async ([status, code]) => {
  const { ask } = await talk(failing({ kind: 'status', status, retryAfter: '2', times: 1 }));
  expect(errorOf(await ask(asked)).code).toBe(code);
  expect(textOf(await ask(asked))).toBe(TEXT);
});

test('a fault may strike only some replies', async () => {
  const { ask } = await talk(failing({ kind: 'length', reply: [2], at: { lines: 1 } }));
  const second = [...asked, { role: 'assistant', content: 'a' } as const, user('y')];
  expect(textOf(await ask(asked))).toBe(TEXT);
  expect(textOf(await ask(second))).toBe(firstLines(1));
});

test('a length limit of the request may be honoured', async () => {
  const { ask } = await talk({
    behaviours: [{ reply: { text: TEXT }, shape: { honourMaxTokens: true } }],
  });
  const events = await ask(asked, { max_tokens: 10 });
  expect(textOf(events)).toBe(TEXT.slice(0, 40));
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'length' });
});

test('a list of sizes decides each event, its last one all that follow', async ({
  onTestFinished,
}) => {
  const shape = { chunk: [4, 1, 2] };
  const provider = await startScriptedProvider({
    shape,
    behaviours: [{ reply: { text: 'lineDONE and' } }],
  });
  onTestFinished(() => provider.close());
  const answer = await fetch(`${provider.url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'scripted',
      stream: true,
      messages: [{ role: 'user', content: 'Go.' }],
    }),
  });
  const pieces = [...(await answer.text()).matchAll(/"content":"([^"]+)"/gu)].map(
    ([, text]) => text,
  );
  expect(pieces).toEqual(['line', 'D', 'ON', 'E ', 'an', 'd']);
});

test.for<Shape>([
  { chunk: 1 },
  { chunk: { min: 1, max: 60 }, seed: 7 },
  { chunk: 1, splitSurrogates: true },
  { bytes: 1, chunk: 40 },
  { bytes: { min: 1, max: 90 }, chunk: 3, crlf: true, comments: 5 },
  { changingIds: true, usage: false },
  { endMark: 'done' },
  { endMark: 'finish_reason' },
  { reasoning: 'because', reasoningField: 'think', chunk: 2 },
  { reasoning: 'because', reasoningField: 'reasoning' },
  { firstDelayMs: 20 },
])('the shape %j does not change the reply', async (shape) => {
  const short = TEXT.slice(0, 200);
  const { ask } = await talk({ shape, behaviours: [{ reply: { text: short } }] });
  const events = merged(await ask(asked));
  expect(textOf(events)).toBe(short);
  expect(events.at(-1)).toEqual({ type: 'finish', reason: 'stop' });
  expect(events.some(({ type }) => type === 'usage')).toBe(shape.usage !== false);
  if (shape.reasoning !== undefined) {
    expect(events[0]).toEqual({ type: 'reasoning-delta', text: 'because' });
  }
});

test('a pace is kept', async () => {
  const shape = { chunk: 10, eventsPerSecond: 200 };
  const { ask } = await talk({ shape, behaviours: [{ reply: { text: 'x'.repeat(400) } }] });
  const start = performance.now();
  const events = await ask(asked);
  expect(performance.now() - start).toBeGreaterThan(180);
  expect(events.filter(({ type }) => type === 'text-delta').length).toBeGreaterThan(10);
});

test('the exact bytes of a reply may be given', async () => {
  const body = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: [DONE]';
  const { ask } = await talk({ behaviours: [{ reply: { raw: { body } } }] });
  expect(textOf(await ask(asked))).toBe('a');
});

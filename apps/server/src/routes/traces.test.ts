// Traces are read by turn and page by page, without details, and one event whole.
import type { TraceAnswer, TracedTurnsAnswer, TraceEvent } from '@orion/contracts';
import { describe, expect, it } from 'vitest';

import { codeOf, startTestServer } from '../testing/test-server.ts';
import type { TestServer } from '../testing/test-server.ts';

async function record(
  { orion: { store, projectId } }: TestServer,
  requestId: string,
  types: readonly string[],
): Promise<void> {
  for (const type of types)
    store.traces.record({
      type,
      requestId,
      projectId,
      details: { task: 'message', status: 'complete', long: 'x'.repeat(1000) },
      ...(type === 'tool_failed' ? { error: { code: 'TOOL_FAILED', api_key: 'sk-secret' } } : {}),
    });
  await store.traces.flush();
}

describe('the list of turns', () => {
  it('is newest first, page by page, and says how each ended', async () => {
    const server = await startTestServer();
    for (let index = 0; index < 5; index++)
      await record(server, `r${index}`, ['turn_started', ...(index === 3 ? [] : ['turn_ended'])]);
    const found: TracedTurnsAnswer['turns'][number][] = [];
    let query = '?limit=2';
    for (let pages = 0; query !== '' && pages < 5; pages++) {
      const { json } = await server.ask(`/api/traces${query}`);
      const { turns, next } = json as TracedTurnsAnswer;
      found.push(...turns);
      query = next === null ? '' : `?limit=2&before=${next}`;
    }
    expect(found.map(({ requestId }) => requestId)).toEqual(['r4', 'r3', 'r2', 'r1', 'r0']);
    expect(found.map(({ status }) => status)).toEqual([
      'complete',
      null,
      'complete',
      'complete',
      'complete',
    ]);
    expect(found[0]).toEqual({
      requestId: 'r4',
      projectId: server.orion.projectId,
      task: 'message',
      startedAt: expect.any(Number),
      status: 'complete',
      durationMs: expect.any(Number),
    });
  });

  it('is of one project where one is named, and empty before the first event', async () => {
    const server = await startTestServer();
    await record(server, 'r', ['turn_started']);
    const count = async (query: string) =>
      ((await server.ask(`/api/traces${query}`)).json as TracedTurnsAnswer).turns.length;
    expect(await count('')).toBe(1);
    expect(await count('?projectId=other')).toBe(0);
    expect(await count('?before=0')).toBe(0);
  });
});

describe('the events of a turn', () => {
  it('come in order, page by page, without what makes them large', async () => {
    const server = await startTestServer();
    await record(server, 'other', ['turn_started']);
    await record(server, 'r', ['turn_started', 'tool_call', 'tool_failed', 'turn_ended']);
    const read = async (query: string) => {
      const { json, text } = await server.ask(`/api/traces?requestId=r&limit=3${query}`);
      expect(text).not.toMatch(/xxx|sk-secret/u);
      return json as TraceAnswer;
    };
    const first = await read('');
    expect(first.events.map(({ type, hasError }) => [type, hasError])).toEqual([
      ['turn_started', false],
      ['tool_call', false],
      ['tool_failed', true],
    ]);
    const second = await read(`&after=${first.next}`);
    expect(second.events.map(({ type }) => type)).toEqual(['turn_ended']);
    expect(second.next).toBeNull();
    const last = second.events[0]?.id ?? 0;
    expect(await read(`&after=${last}`)).toEqual({ requestId: 'r', events: [], next: null });
  });

  it('are at most 1,000 at once', async () => {
    const server = await startTestServer();
    await record(
      server,
      'r',
      Array.from({ length: 1001 }, () => 'tool_call'),
    );
    const { json } = await server.ask('/api/traces?requestId=r');
    const { events, next } = json as TraceAnswer;
    expect([events.length, next]).toEqual([1000, events.at(-1)?.id]);
    expect((await server.ask('/api/traces?requestId=r&limit=1001')).status).toBe(400);
  });

  it('are read one at a time with everything, and without secrets (R229)', async () => {
    const server = await startTestServer();
    await record(server, 'r', ['tool_failed']);
    const { events } = (await server.ask('/api/traces?requestId=r')).json as TraceAnswer;
    const { json, text } = await server.ask(`/api/traces/r/events/${events[0]?.id}`);
    expect(json).toMatchObject({
      type: 'tool_failed',
      details: { task: 'message', long: 'x'.repeat(1000) },
      error: { code: 'TOOL_FAILED' },
    });
    expect(JSON.parse((json as TraceEvent).raw)).toEqual((json as TraceEvent).details);
    expect(text).not.toContain('sk-secret');
  });

  it.each(['/api/traces?requestId=none', '/api/traces/r/events/999', '/api/traces/none/events/1'])(
    '%s is not found',
    async (path) => {
      const server = await startTestServer();
      await record(server, 'r', ['turn_started']);
      const { status, json } = await server.ask(path);
      expect([status, codeOf(json)]).toEqual([404, 'TRACE_NOT_FOUND']);
    },
  );
});

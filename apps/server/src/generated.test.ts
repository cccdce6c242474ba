// Whatever a client asks, the server answers: in time, without a defect, and with what its document says. The requests
// are made from the document, so a new route is in here by itself.
import type { MessageAnswer } from '@orion/contracts';
import fastCheck from 'fast-check';
import { expect, it } from 'vitest';

import type { ApiDocument } from './openapi/document.ts';
import { operationsOf } from './openapi/page.ts';
import { generatedRequests } from './testing/generated-requests.ts';
import { answerContent, schemaCheck } from './testing/schema-check.ts';
import { codeOf, startTestServer } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';

const RUNS = Number(process.env['ORION_GENERATED_REQUESTS'] ?? 200);
const SLOW_MICROSECONDS = 5_000_000;

/** Something of each kind that can be read. */
async function storedIds({ orion, ask }: TestServer): Promise<readonly string[]> {
  await orion.store.conversations.save({
    conversationId: 'conversation-1',
    projectId: orion.projectId,
    history: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'yes' },
    ],
    from: 0,
    openSessionId: null,
    revision: 0,
  });
  for (const type of ['turn_started', 'tool_call', 'turn_ended'])
    orion.store.traces.record({
      type,
      requestId: 'turn-1',
      details: { task: 'x', status: 'done' },
    });
  await orion.store.traces.flush();
  const { id } = await orion.storeOutput('{"items":[{"id":1},{"id":2}]}', 'items');
  const { plan_id } = await orion.applyPlan({
    intent: 'Begin.',
    operations: [{ type: 'create', target_file: 'begin.md', content: 'x' }],
  });
  const headers = { accept: 'application/json' };
  const { json } = await ask('/api/chat/messages', { json: { content: 'hello' }, headers });
  const { turnId } = json as MessageAnswer;
  const sessions: string[] = [];
  for (const target_file of ['one.txt', 'two.txt']) {
    const request = { intent: 'x', target_file, operation: 'create' } as const;
    const { session_id } = await orion.writeSessions.begin(request);
    await orion.writeSessions.upload(session_id, 0, notUtf8());
    sessions.push(session_id);
  }
  return ['conversation-1', 'turn-1', id, plan_id, turnId, '1', ...sessions];
}

async function* notUtf8(): AsyncGenerator<Uint8Array, void> {
  yield await Promise.resolve(Buffer.from('text\n\xff', 'latin1'));
}

it(
  `of ${RUNS} generated requests each gets an answer that the document describes`,
  async () => {
    const server = await startTestServer({
      limits: { readsPerSecond: 100_000, changesPerSecond: 100_000, opensPerSecond: 100_000 },
    });
    const ids = await storedIds(server);
    const document = (await server.ask('/openapi.json')).json as ApiDocument;
    const check = schemaCheck(document);
    let succeeded = 0;
    await fastCheck.assert(
      fastCheck.asyncProperty(generatedRequests(document, ids), async (request) => {
        const { method, path, operation, body, contentType, isValid } = request;
        const before = process.cpuUsage();
        const { status, headers, text, json } = await server.ask(path, {
          method: method.toUpperCase(),
          ...(body === undefined ? {} : { body }),
          headers: {
            accept: 'application/json',
            ...(contentType === undefined ? {} : { 'content-type': contentType }),
          },
        });
        expect(process.cpuUsage(before).user).toBeLessThan(SLOW_MICROSECONDS);
        expect(status).toBeLessThan(500);
        // A path with hostile parts may be that of no route.
        const code = codeOf(json);
        if (['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED'].includes(code) && !isValid) return;
        if (isValid) expect(code).not.toBe('REQUEST_INVALID');
        // What the tools take is in the document, too.
        if (isValid && path.startsWith('/api/tool-outputs'))
          expect(code).not.toBe('INVALID_TOOL_ARGUMENTS');
        if (status < 300) succeeded += 1;
        const content = answerContent(document, operation.responses, status);
        expect(content).not.toBeNull();
        const [type = ''] = (headers['content-type'] ?? '').split(';');
        const schema = content?.[type]?.schema;
        expect([text.slice(0, 200), schema]).toEqual([text.slice(0, 200), expect.anything()]);
        if (type === 'application/json') expect(check(schema ?? {})(json)).toBeNull();
      }),
      { numRuns: RUNS, seed: Number(process.env['ORION_SEED'] ?? Date.now() & 0x7fffffff) },
    );
    expect(server.log.filter((line) => line.includes('"defect"'))).toEqual([]);
    // Requests that are only ever refused would prove little.
    expect(succeeded).toBeGreaterThan(RUNS / 10);
  },
  20_000 + RUNS * 20,
);

it('what exists is read as the document describes it, by every route that reads', async () => {
  const server = await startTestServer();
  const ids = await storedIds(server);
  const document = (await server.ask('/openapi.json')).json as ApiDocument;
  const check = schemaCheck(document);
  const read = new Set<string>();
  for (const { method, path, operation } of operationsOf(document)) {
    if (method !== 'get') continue;
    const paths = ids.flatMap((one) =>
      ids.map((other) => path.replace(/\{\w+\}/u, one).replace(/\{\w+\}/u, other)),
    );
    const also = path === '/api/traces' ? ['/api/traces?requestId=turn-1'] : [];
    for (const asked of new Set([...paths, ...also])) {
      const headers = { accept: 'application/json' };
      const { status, json, headers: found } = await server.ask(asked, { headers });
      if (status !== 200) continue;
      read.add(path);
      const [type = ''] = (found['content-type'] ?? '').split(';');
      const schema = answerContent(document, operation.responses, status)?.[type]?.schema;
      if (type === 'application/json')
        expect([asked, check(schema ?? {})(json)]).toEqual([asked, null]);
    }
  }
  expect([...read]).toEqual(
    expect.arrayContaining([
      '/api/conversations/{id}',
      '/api/traces/{request}/events/{id}',
      '/api/tool-outputs/{id}/stats',
      '/api/changes/{id}/diff',
      '/api/turns/{id}',
    ]),
  );
});

import { systemClock } from '@orion/contracts';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFakeClock } from '@orion/testkit';
import { afterEach, expect, test, vi } from 'vitest';
import { createOtlpExport } from './otlp-export.ts';
import type { OtlpExport } from './otlp-export.ts';

type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly [field: string]: unknown;
};
type Request = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
};
type Body = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly unknown[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};

const servers: { stop(): void }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop();
});

/** A collector on loopback that answers as it is told. */
async function startCollector(
  answer: (response: ServerResponse, count: number) => void = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  },
) {
  const requests: Request[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const body = JSON.parse(text) as Body;
      requests.push({ path: request.url ?? '', headers: request.headers, body });
      answer(response, requests.length);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  servers.push({
    stop() {
      server.closeAllConnections();
      server.close();
    },
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`;
  const spans = (): readonly Span[] =>
    requests.flatMap(({ body }) =>
      body.resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)),
    );
  return { url, requests, spans };
}

function begin(
  sink: OtlpExport,
  name: string,
  parent: ReturnType<OtlpExport['start']> | null = null,
) {
  return sink.start({
    name,
    kind: 'client',
    at: 1_700_000_000_123,
    parent,
    attributes: { a: 'b' },
  });
}

test('a span goes out in the JSON of OTLP, below its parent, with the headers and the resource', async () => {
  const { url, requests, spans } = await startCollector();
  const sink = createOtlpExport({
    clock: systemClock,
    url,
    headers: { 'x-api-key': 'k' },
    resource: { 'service.name': 'mine', 'deployment.environment.name': 'test' },
  });
  const root = sink.start({
    name: 'invoke_agent orion',
    kind: 'internal',
    at: 1_700_000_000_000,
    parent: null,
    attributes: { 'gen_ai.operation.name': 'invoke_agent' },
  });
  const child = begin(sink, 'chat m', root);
  child.end(
    1_700_000_000_456.4,
    { 'gen_ai.usage.input_tokens': 12, 'gen_ai.response.finish_reasons': ['stop'], ratio: 0.5 },
    null,
  );
  root.end(1_700_000_001_000, {}, 'failed');
  await sink.close();

  expect(requests).toHaveLength(1);
  const [request] = requests;
  expect(request?.path).toBe('/v1/traces');
  expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-api-key': 'k' });
  expect(request?.body.resourceSpans[0]?.resource.attributes).toEqual([
    { key: 'service.name', value: { stringValue: 'mine' } },
    { key: 'deployment.environment.name', value: { stringValue: 'test' } },
  ]);
  const [first, second] = spans();
  expect(first).toEqual({
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/u) as string,
    spanId: expect.stringMatching(/^[0-9a-f]{16}$/u) as string,
    parentSpanId: second?.spanId,
    name: 'chat m',
    kind: 3,
    startTimeUnixNano: '1700000000123000000',
    endTimeUnixNano: '1700000000456000000',
    attributes: [
      { key: 'a', value: { stringValue: 'b' } },
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '12' } },
      {
        key: 'gen_ai.response.finish_reasons',
        value: { arrayValue: { values: [{ stringValue: 'stop' }] } },
      },
      { key: 'ratio', value: { doubleValue: 0.5 } },
    ],
    status: {},
  });
  expect(second).toEqual({
    traceId: first?.traceId,
    spanId: first?.parentSpanId,
    name: 'invoke_agent orion',
    kind: 1,
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000001000000000',
    attributes: [
      { key: 'gen_ai.operation.name', value: { stringValue: 'invoke_agent' } },
      { key: 'error.type', value: { stringValue: 'failed' } },
    ],
    status: { code: 2, message: 'failed' },
  });
  const { resourceSpans } = request?.body ?? {};
  expect(resourceSpans).toEqual([
    {
      resource: expect.anything() as unknown,
      scopeSpans: [{ scope: { name: 'orion' }, spans: [first, second] }],
    },
  ]);
  expect(sink.lost()).toEqual({ spans: 0, reason: null });
});

test('spans wait five seconds for each other, or until there are 512', async () => {
  const { url, requests, spans } = await startCollector();
  const clock = createFakeClock();
  const sink = createOtlpExport({ clock, url });
  begin(sink, 'one').end(2, {}, null);
  begin(sink, 'two').end(2, {}, null);
  await clock.advance(4_999);
  expect(requests).toHaveLength(0);
  await clock.advance(1);
  await vi.waitFor(() => expect(spans()).toHaveLength(2));
  for (let count = 0; count < 512; count += 1) begin(sink, `many ${count}`).end(2, {}, null);
  await vi.waitFor(() => expect(spans()).toHaveLength(514));
  expect(requests).toHaveLength(2);
  await sink.close();
  expect(clock.pending()).toBe(0);
  expect(requests[0]?.body.resourceSpans[0]?.resource.attributes).toEqual([
    { key: 'service.name', value: { stringValue: 'orion' } },
  ]);
  begin(sink, 'late').end(2, {}, null);
  expect(sink.lost()).toEqual({ spans: 1, reason: 'it ended after the export' });
});

test.each([
  [429, null, 1_000],
  [502, '0', 1_000],
  [503, '2', 2_000],
  [504, '60', 30_000],
  [503, 'Thu, 01 Jan 2026 00:00:00 GMT', 1_000],
])('status %s with retry-after %s is tried again after %s ms', async (status, after, pause) => {
  const { url, requests } = await startCollector((response, count) => {
    if (count > 1) response.end('{}');
    else response.writeHead(status, after === null ? {} : { 'retry-after': after }).end();
  });
  const clock = createFakeClock();
  const sink = createOtlpExport({ clock, url });
  begin(sink, 'one').end(2, {}, null);
  await clock.advance(5_000);
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  await vi.waitFor(() => expect(clock.pending()).toBe(1));
  // The deadline of the request is over by then, and the pause has begun.
  await vi.waitFor(async () => {
    await clock.advance(0);
    expect(clock.pending()).toBe(1);
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  await clock.advance(pause - 1);
  expect(requests).toHaveLength(1);
  await clock.advance(1);
  await vi.waitFor(() => expect(requests).toHaveLength(2));
  await sink.close();
  expect(sink.lost()).toEqual({ spans: 0, reason: null });
});

test('the same spans are sent five times, further apart each time, and then lost', async () => {
  const { url, requests } = await startCollector((response) => {
    response.writeHead(503).end();
  });
  const clock = createFakeClock();
  const sink = createOtlpExport({ clock, url });
  begin(sink, 'one').end(2, {}, null);
  await clock.advance(5_000);
  for (const [index, pause] of [1_000, 2_000, 4_000, 8_000].entries()) {
    await vi.waitFor(() => expect(requests).toHaveLength(index + 1));
    await vi.waitFor(() => expect(clock.pending()).toBe(1));
    await vi.waitFor(async () => {
      await clock.advance(0);
      await new Promise(setImmediate);
      expect(clock.pending()).toBe(1);
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    await clock.advance(pause - 1);
    expect(requests).toHaveLength(index + 1);
    await clock.advance(1);
  }
  await vi.waitFor(() =>
    expect(sink.lost()).toEqual({ spans: 1, reason: 'the collector answered 503' }),
  );
  expect(requests).toHaveLength(5);
  await sink.close();
});

test.each([400, 401, 404, 413, 500])('status %s is final', async (status) => {
  const { url, requests } = await startCollector((response) => {
    response.writeHead(status).end();
  });
  const sink = createOtlpExport({ clock: systemClock, url });
  begin(sink, 'one').end(2, {}, null);
  await sink.close();
  expect(requests).toHaveLength(1);
  expect(sink.lost()).toEqual({ spans: 1, reason: `the collector answered ${status}` });
});

test('an overloaded collector gets the same spans again when it says so; a refusal is final', async () => {
  const { url, requests, spans } = await startCollector((response, count) => {
    if (count === 1) response.writeHead(503, { 'retry-after': '7' }).end();
    else if (count === 3) response.writeHead(400).end('no');
    else response.end('{}');
  });
  const clock = createFakeClock();
  const sink = createOtlpExport({ clock, url });
  begin(sink, 'one').end(2, {}, null);
  await clock.advance(5_000);
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  await vi.waitFor(async () => {
    await clock.advance(1_000);
    expect(requests).toHaveLength(2);
  });
  expect(new Set(spans().map((span) => span.spanId)).size).toBe(1);
  begin(sink, 'refused').end(2, {}, null);
  await vi.waitFor(async () => {
    await clock.advance(1_000);
    expect(sink.lost()).toEqual({ spans: 1, reason: 'the collector answered 400' });
  });
  expect(requests).toHaveLength(3);
  await sink.close();
});

test('a collector that is away, or never answers, costs a bounded queue and a bounded end', async () => {
  const stopped = await startCollector();
  for (const server of servers.splice(0)) server.stop();
  const gone = createOtlpExport({ clock: systemClock, url: stopped.url });
  begin(gone, 'one').end(2, {}, null);
  await gone.close();
  expect(gone.lost()).toEqual({ spans: 1, reason: 'ECONNREFUSED' });
  begin(gone, 'late').end(2, {}, null);
  expect(gone.lost().spans).toBe(2);

  const { url, requests } = await startCollector(() => undefined);
  const clock = createFakeClock();
  const hung = createOtlpExport({ clock, url, headers: { authorization: 'Bearer hidden-word' } });
  for (let count = 0; count < 512 + 2_048 + 40; count += 1) {
    begin(hung, `span ${count}`).end(2, {}, null);
  }
  expect(hung.lost().spans).toBe(40);
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  const closing = hung.close();
  await vi.waitFor(async () => {
    await clock.advance(500);
    await Promise.race([closing, Promise.reject(new Error('not closed'))]);
  });
  await closing;
  expect(hung.lost()).toEqual({ spans: 512 + 2_048 + 40, reason: 'no answer' });
  expect(JSON.stringify(hung.lost())).not.toContain('hidden-word');
  expect(clock.pending()).toBe(0);
});

test('closing waits half a second for a collector that says nothing', async () => {
  const { url, requests } = await startCollector(() => undefined);
  const clock = createFakeClock();
  const sink = createOtlpExport({ clock, url });
  begin(sink, 'one').end(2, {}, null);
  let closed = false;
  const closing = sink.close().then(() => (closed = true));
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  await clock.advance(499);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(closed).toBe(false);
  await clock.advance(1);
  await closing;
  expect(sink.lost()).toEqual({ spans: 1, reason: 'no answer' });
});

test('the text of an answer is not waited for', async () => {
  let left = false;
  const { url } = await startCollector((response) => {
    response.once('close', () => (left = true));
    response.write('the beginning of a text without an end');
  });
  const sink = createOtlpExport({ clock: systemClock, url });
  begin(sink, 'one').end(2, {}, null);
  await sink.close();
  // At once: a garbage collector closes the connection in the end, too.
  await vi.waitFor(() => expect(left).toBe(true), { timeout: 2_000 });
  expect(sink.lost()).toEqual({ spans: 0, reason: null });
});

test('a request without an answer is given up after ten seconds, and made again', async () => {
  const { url, requests } = await startCollector(() => undefined);
  const clock = createFakeClock();
  const sink = createOtlpExport({ clock, url });
  begin(sink, 'one').end(2, {}, null);
  await clock.advance(5_000);
  await vi.waitFor(() => expect(requests).toHaveLength(1));
  await clock.advance(9_999);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await clock.advance(0);
  expect([requests.length, clock.pending()]).toEqual([1, 1]);
  await clock.advance(1);
  // The pause before the next attempt has begun.
  await new Promise((resolve) => setTimeout(resolve, 20));
  await vi.waitFor(() => expect(clock.pending()).toBe(1));
  await clock.advance(1_000);
  await vi.waitFor(() => expect(requests).toHaveLength(2));
  const closing = sink.close();
  await vi.waitFor(async () => {
    await clock.advance(500);
    await Promise.race([closing, Promise.reject(new Error('not closed'))]);
  });
  expect(sink.lost()).toEqual({ spans: 1, reason: 'no answer' });
});

// @module-tag long
import { rm } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect } from 'vitest';

import { numbered, writeDocument } from './support/scripts.ts';
import { test } from './support/test.ts';

const CANARY = 'canary line';
const ROWS = numbered(CANARY, 1, 60, 3);

type Attribute = {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: string;
    readonly arrayValue?: { readonly values: readonly { readonly stringValue: string }[] };
  };
};
type Span = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
};
type Body = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
};

async function startCollector() {
  const requests: { readonly path: string; readonly headers: IncomingHttpHeaders; text: string }[] =
    [];
  const server = createServer((incoming, response) => {
    const request = { path: incoming.url ?? '', headers: incoming.headers, text: '' };
    incoming.setEncoding('utf8').on('data', (part: string) => (request.text += part));
    incoming.on('end', () => {
      requests.push(request);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () => server.close(),
  };
}

test('a turn goes to a collector as spans when that is switched on, and only then', async ({
  machine,
}) => {
  const collector = await startCollector();
  try {
    const provider = await machine.provider(writeDocument({ target: 'rows.txt', content: ROWS }));
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    };
    const off = await machine.ask(provider, [], { env });
    expect(off.exitCode, off.stderr).toBe(0);
    expect(collector.requests).toEqual([]);
    await rm(machine.path('rows.txt'));

    const on = await machine.ask(provider, [], { env: { ...env, ORION_TELEMETRY: 'otlp' } });

    expect(on.exitCode, on.stderr).toBe(0);
    const [request] = collector.requests;
    expect(request?.path).toBe('/v1/traces');
    expect(request?.headers['x-tenant']).toBe('a b');
    const bodies = collector.requests.map(({ text }) => JSON.parse(text) as Body);
    const [about] = bodies[0]?.resourceSpans ?? [];
    expect(valuesOf(about?.resource.attributes ?? [])).toEqual({
      'service.name': 'orion',
      'deployment.environment.name': 'test',
    });
    const spans = bodies.flatMap((body) =>
      body.resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)),
    );
    const root = spans.find((span) => span.name === 'invoke_agent orion');
    expect(root?.parentSpanId).toBeUndefined();
    const chats = spans.filter((span) => span.name === 'chat scripted');
    // The call of the tool, the content of the file, the last word.
    expect(chats).toHaveLength(3);
    expect(spans.some((span) => span.name === 'execute_tool WritePlanTool_begin')).toBe(true);
    for (const span of spans) {
      expect(span.traceId).toBe(root?.traceId);
      if (span !== root) expect(span.parentSpanId).toBe(root?.spanId);
      expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
    }
    expect(valuesOf(chats[0]?.attributes ?? [])).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'scripted',
      'gen_ai.response.finish_reasons': ['tool_calls'],
    });
    // Neither what was asked nor what was answered.
    for (const { text } of collector.requests) {
      expect(text).not.toContain(CANARY);
      expect(text).not.toContain('Write it.');
    }
  } finally {
    collector.close();
  }
});

test('a collector that is away costs one sentence at the end, and a wrong setting the start', async ({
  machine,
}) => {
  const provider = await machine.provider(writeDocument({ target: 'rows.txt', content: ROWS }));
  const collector = await startCollector();
  collector.close();
  const env = { ORION_TELEMETRY: 'otlp', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };

  const ended = await machine.ask(provider, ['--json'], { env });

  expect(ended.exitCode, ended.stderr).toBe(0);
  expect(String(await machine.read('rows.txt'))).toBe(ROWS);
  expect(ended.stderr).toMatch(/^The collector of telemetry did not take \d+ spans\.$/mu);
  expect(ended.result().notStored?.spans).toBeGreaterThan(3);
  const wrong = await machine.ask(provider, [], {
    env: { ...env, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  });
  expect(wrong.exitCode).toBe(2);
  expect(wrong.stderr).toContain(
    'orion: CONFIG_INVALID: OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", but must be http/json: spans are sent over HTTP.\n',
  );
});

function valuesOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ??
        value.intValue ??
        value.arrayValue?.values.map((each) => each.stringValue),
    ]),
  );
}

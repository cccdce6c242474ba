import { describe, expect, it } from 'vitest';

import { telemetryOptions } from './telemetry.ts';

const on = { telemetry: 'otlp' } as const;

describe('where spans go', () => {
  it('is nowhere unless they are asked for, whatever the environment says of collectors', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'nonsense',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    };
    expect(telemetryOptions({}, environment)).toBeNull();
    expect(telemetryOptions({ telemetry: 'none' }, environment)).toBeNull();
    expect(telemetryOptions(on, { OTEL_SDK_DISABLED: 'True' })).toBeNull();
  });

  it('is the collector of this machine when nothing is said', () => {
    expect(telemetryOptions(on, {})).toEqual({
      url: 'http://localhost:4318/v1/traces',
      headers: {},
      resource: {},
    });
  });

  it('has the path of traces below an address for everything, and not below one for traces', () => {
    for (const otlpEndpoint of ['https://c.example/otel', 'https://c.example/otel/']) {
      expect(telemetryOptions({ ...on, otlpEndpoint }, {})?.url).toBe(
        'https://c.example/otel/v1/traces',
      );
    }
    const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t.example/in' };
    expect(telemetryOptions({ ...on, otlpEndpoint: 'https://c.example' }, own)?.url).toBe(
      'https://t.example/in',
    );
  });

  it('takes headers, attributes and time from the variables of OpenTelemetry', () => {
    expect(
      telemetryOptions(on, {
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b, other=1=2',
        OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'other=3',
        OTEL_RESOURCE_ATTRIBUTES: 'service.name=x,host.name=h',
        OTEL_SERVICE_NAME: 'mine',
        OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
      }),
    ).toMatchObject({
      headers: { 'api-key': 'a b', other: '3' },
      resource: { 'service.name': 'mine', 'host.name': 'h' },
      timeoutMs: 2500,
    });
  });

  it.each<readonly [Readonly<Record<string, string>>, string]>([
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'collector' }, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
    [{ OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '10s' }, 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'hidden-word' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=hidden-word%' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://u:hidden-word@c.example/' },
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    ],
  ])('refuses %o, naming the variable and no secret', (environment, name) => {
    const attempt = (): unknown => telemetryOptions(on, environment);
    expect(attempt).toThrow(name);
    expect(attempt).not.toThrow('hidden-word');
  });
});

import { defined, type OrionError } from '@orion/contracts';

import type { TelemetryOptions } from '../orion.ts';
import { configurationError, urlProblem } from './configuration-error.ts';
import type { Settings } from './settings.ts';

const DEFAULT_ENDPOINT = 'http://localhost:4318';
const PATH = 'v1/traces';

type Environment = Readonly<Record<string, string>>;
type TelemetrySettings = Partial<Pick<Settings, 'telemetry' | 'otlpEndpoint'>>;

/**
 * Where spans go; null when they are not wanted. The variables are those that OpenTelemetry names for every exporter;
 * what is said for traces alone wins. They are read only when `telemetry` is switched on: in many environments they
 * are meant for other programs. Throws CONFIG_INVALID naming the variable.
 */
export function telemetryOptions(
  settings: TelemetrySettings,
  environment: Environment,
): TelemetryOptions | null {
  if (settings.telemetry !== 'otlp') return null;
  if (environment['OTEL_SDK_DISABLED']?.trim().toLowerCase() === 'true') return null;
  const protocol = firstOf(environment, 'PROTOCOL');
  if (protocol?.value.trim() === 'grpc') {
    throw invalid(protocol, 'http/json: spans are sent over HTTP');
  }
  const timeout = firstOf(environment, 'TIMEOUT');
  if (timeout !== null && !/^[1-9]\d*$/u.test(timeout.value.trim())) {
    throw invalid(timeout, 'a number of milliseconds');
  }
  const serviceName = environment['OTEL_SERVICE_NAME'];
  return {
    url: urlOf(settings, environment),
    headers: {
      ...pairs(environment, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...pairs(environment, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    resource: {
      ...pairs(environment, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...defined({ 'service.name': serviceName }),
    },
    ...defined({ timeoutMs: timeout === null ? undefined : Number(timeout.value) }),
  };
}

/** The address for traces is taken as it is, the one for everything gets the path of traces. */
function urlOf(settings: TelemetrySettings, environment: Environment): string {
  const name = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  const own = environment[name];
  if (own !== undefined) return checkedUrl({ name, value: own }).href;
  const url = checkedUrl({
    name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    value: settings.otlpEndpoint ?? DEFAULT_ENDPOINT,
  });
  url.pathname = `${url.pathname.replace(/\/$/u, '')}/${PATH}`;
  return url.href;
}

type Variable = { readonly name: string; readonly value: string };

function checkedUrl(variable: Variable): URL {
  const text = variable.value.trim();
  const problem = urlProblem(text);
  if (problem === null) return new URL(text);
  if (problem === 'not_http') {
    throw invalid(variable, 'a URL that begins with http:// or https://');
  }
  // Not repeated in the message: it is a secret.
  throw configurationError(
    `${variable.name}: the address of a collector must not hold a user name or password.`,
    'Give what it asks for in OTEL_EXPORTER_OTLP_HEADERS.',
  );
}

function firstOf(environment: Environment, what: string): Variable | null {
  for (const name of [`OTEL_EXPORTER_OTLP_TRACES_${what}`, `OTEL_EXPORTER_OTLP_${what}`]) {
    const value = environment[name];
    if (value !== undefined) return { name, value };
  }
  return null;
}

/** `name=value,name=value`, percent-encoded where need be. */
function pairs(environment: Environment, name: string): Readonly<Record<string, string>> {
  const found: [string, string][] = [];
  for (const part of (environment[name] ?? '').split(',')) {
    if (part.trim() === '') continue;
    const [key = '', ...rest] = part.split('=');
    try {
      if (key.trim() === '' || rest.length === 0) throw new URIError('no pair');
      found.push([decodeURIComponent(key.trim()), decodeURIComponent(rest.join('=').trim())]);
    } catch {
      // What it holds may be a secret.
      throw configurationError(
        `${name} must be a list of the form name=value,name=value, percent-encoded.`,
        `Correct or unset ${name} and start again.`,
      );
    }
  }
  return Object.fromEntries(found);
}

function invalid({ name, value }: Variable, expected: string): OrionError {
  return configurationError(
    `${name} is ${JSON.stringify(value)}, but must be ${expected}.`,
    `Correct or unset ${name} and start again, or unset ORION_TELEMETRY.`,
  );
}

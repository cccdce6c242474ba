import { OrionError, systemClock } from '@orion/contracts';
import type { Clock, ModelLimits, Redact } from '@orion/contracts';

import { modelLimits } from './models.ts';
import { createRedactor } from './provider-error.ts';
import { DEFAULT_RETRY } from './retry.ts';
import type { RetryPolicy, UpcomingRetry } from './retry.ts';
import type { FetchFunction, JsonPost } from './stream/post-json.ts';

/** The options of every adapter. */
export type AdapterOptions = {
  readonly model: string;
  /** Without a key, no authentication is sent. */
  readonly apiKey?: string;
  /** Default: the provider's own address. */
  readonly baseUrl?: string;
  /** For requests that set none. If neither does, none is sent. */
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** The longest wait for the head of an answer; 5 minutes by default. */
  readonly connectTimeoutMs?: number;
  /**
   * The longest silence within an answer; 60 seconds by default. If unset, the wait for the first event is longer (5
   * minutes), because models that reason send nothing meanwhile.
   */
  readonly silenceMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** Called before each wait for a retry; must not throw. */
  readonly onRetry?: (retry: UpcomingRetry) => void;
  /** Overrides what is known about the model's limits. */
  readonly limits?: Partial<ModelLimits>;
  readonly clock?: Clock;
  /** Uniform in [0, 1): the jitter of waits before a retry. */
  readonly random?: () => number;
  readonly fetch?: FetchFunction;
};

/** Validated options, with every default applied that does not depend on the provider. */
export type CheckedOptions = {
  readonly model: string;
  readonly apiKey: string | undefined;
  readonly baseUrl: URL;
  /** Host and port. */
  readonly address: string;
  readonly redact: Redact;
  readonly temperature: number | undefined;
  readonly maxTokens: number;
  readonly limits: ModelLimits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly retry: RetryPolicy;
  readonly onRetry: ((retry: UpcomingRetry) => void) | undefined;
  /** The longest silence before the first event, and between later ones. */
  readonly firstEventMs: number;
  readonly silenceMs: number;
  /** The longest time without an event in which a server sends something nevertheless, such as keep-alives. */
  readonly eventlessMs: number;
  readonly connection: Pick<JsonPost, 'clock' | 'connectTimeoutMs' | 'fetch'>;
};

const DEFAULT_MAX_TOKENS = 8192;
/** Local servers process the whole prompt before they send the head of an answer. */
const DEFAULT_CONNECT_TIMEOUT_MS = 300_000;
const DEFAULT_SILENCE_MS = 60_000;
const DEFAULT_FIRST_EVENT_MS = 300_000;

/** Throws CONFIG_INVALID for options that cannot work. */
export function checkOptions(options: AdapterOptions, defaultBaseUrl: string): CheckedOptions {
  const baseUrl = checkBaseUrl(options.baseUrl ?? defaultBaseUrl);
  const apiKey = checkApiKey(options.apiKey);
  const limits = { ...modelLimits(options.model), ...options.limits };
  const clock = options.clock ?? systemClock;
  return {
    model: options.model,
    apiKey,
    baseUrl,
    address: `${baseUrl.hostname}:${baseUrl.port === '' ? (baseUrl.protocol === 'https:' ? '443' : '80') : baseUrl.port}`,
    redact: createRedactor([apiKey]),
    temperature: options.temperature,
    maxTokens: options.maxTokens ?? limits.outputTokens ?? DEFAULT_MAX_TOKENS,
    limits,
    clock,
    random: options.random ?? Math.random,
    retry: { ...DEFAULT_RETRY, ...options.retry },
    onRetry: options.onRetry,
    silenceMs: options.silenceMs ?? DEFAULT_SILENCE_MS,
    firstEventMs: options.silenceMs ?? DEFAULT_FIRST_EVENT_MS,
    eventlessMs: Math.max(options.silenceMs ?? 0, DEFAULT_FIRST_EVENT_MS),
    connection: {
      clock,
      connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      fetch: options.fetch,
    },
  };
}

/** The URL of a request: the base URL without trailing slashes, then a path of the API. */
export function endpoint(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  return url;
}

export function bearer(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}

function checkBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The base URL must be an http or https URL',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The base URL must not contain a user name or a password',
      hint: 'Give the credentials as the API key.',
    });
  }
  return url;
}

function checkApiKey(text: string | undefined): string | undefined {
  const key = text?.trim() ?? '';
  if (key === '') return undefined;
  // The HTTP client would quote a key that it cannot send.
  if (!/^[\u0021-\u007e]+$/.test(key)) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The API key contains a character that no header can carry',
    });
  }
  return key;
}

import { OrionError, systemClock } from '@orion/contracts';
import type { Clock, ModelLimits, Redact } from '@orion/contracts';

import { modelLimits } from './models.ts';
import { createRedactor } from './provider-error.ts';
import { DEFAULT_RETRY } from './retry.ts';
import type { RetryPolicy } from './retry.ts';
import type { FetchFunction, JsonPost } from './stream/post-json.ts';

/** What every adapter is given. */
export type AdapterOptions = {
  readonly model: string;
  /** Without one no authentication is sent. */
  readonly apiKey?: string;
  /** The provider's own address when left out. */
  readonly baseUrl?: string;
  /** For requests that give none; without either none is sent. */
  readonly temperature?: number;
  readonly maxTokens?: number;
  /** How long the server may take until the head of its answer. */
  readonly connectTimeoutMs?: number;
  /**
   * How long it may say nothing within its answer; 60 seconds when left out. Then its first event is waited for
   * longer, since models that think first say nothing meanwhile.
   */
  readonly silenceMs?: number;
  readonly retry?: Partial<RetryPolicy>;
  /** What differs from what is known of the model. */
  readonly limits?: Partial<ModelLimits>;
  readonly clock?: Clock;
  /** Equally distributed in [0, 1): the chance in waits. */
  readonly random?: () => number;
  readonly fetch?: FetchFunction;
};

/** The options with everything decided that does not depend on the provider. */
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
  /** How long a server may say nothing before its first event, and after it. */
  readonly firstEventMs: number;
  readonly silenceMs: number;
  readonly connection: Pick<JsonPost, 'clock' | 'connectTimeoutMs' | 'fetch'>;
};

const DEFAULT_MAX_TOKENS = 8192;
/** Local servers read the whole prompt before they answer with a head. */
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
    silenceMs: options.silenceMs ?? DEFAULT_SILENCE_MS,
    firstEventMs: options.silenceMs ?? DEFAULT_FIRST_EVENT_MS,
    connection: {
      clock,
      connectTimeoutMs: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS,
      fetch: options.fetch,
    },
  };
}

/** Where a request goes: the base URL, whatever slashes it ends in, and a path of the API. */
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
  // The network library would quote a key that it cannot send.
  if (!/^[\u0021-\u007e]+$/.test(key)) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The API key contains a character that no header can carry',
    });
  }
  return key;
}

import type { Anthropic, ClientOptions } from '@anthropic-ai/sdk/client';

import type { ConnectionOptions } from '../adapter-options.ts';

/** The SDK looks for credentials elsewhere when it has none; this one is never sent. */
const NO_KEY = 'no-key';

const silent = (): void => undefined;

/**
 * The SDK's client with every option given: what is left out, it reads from the environment or from files of its
 * own. Loaded when the first request is made.
 */
export function createAnthropicClient(
  options: ConnectionOptions,
  ownKeyHeader: boolean,
): () => Promise<Anthropic> {
  let client: Promise<Anthropic> | undefined;
  return () => (client ??= load(options, ownKeyHeader));
}

async function load(options: ConnectionOptions, ownKeyHeader: boolean): Promise<Anthropic> {
  const { Anthropic: Client } = await import('@anthropic-ai/sdk/client');
  const { apiKey } = options;
  const defaultHeaders: Record<string, string | null> =
    apiKey === undefined ? { Authorization: null } : ownKeyHeader ? { 'x-api-key': apiKey } : {};
  const all: ClientOptions = {
    apiKey: options.apiKey ?? NO_KEY,
    webhookKey: null,
    // The SDK appends the version; addresses are given with it and without it.
    baseURL: options.baseUrl.replace(/\/+$/, '').replace(/\/v1$/, ''),
    timeout: options.connectTimeoutMs,
    maxRetries: 0,
    fetch: options.fetch,
    fetchOptions: {},
    defaultHeaders,
    defaultQuery: {},
    dangerouslyAllowBrowser: false,
    logLevel: 'off',
    logger: { error: silent, warn: silent, info: silent, debug: silent },
    openTelemetry: false,
  };
  const client = new Client(all);
  // The one thing without an option: headers from ANTHROPIC_CUSTOM_HEADERS, which the constructor mixes in.
  const { _options } = client as unknown as { readonly _options: ClientOptions };
  _options.defaultHeaders = defaultHeaders;
  return client;
}

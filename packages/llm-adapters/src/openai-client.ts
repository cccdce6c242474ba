import type { ClientOptions, OpenAI } from 'openai/client';

import type { ConnectionOptions } from './adapter-options.ts';

/** The SDK insists on a key; this one is never sent, since the header that would carry it is taken out. */
const NO_KEY = 'no-key';

const silent = (): void => undefined;

/**
 * The SDK's client with every option given: what is left out, it reads from the environment by itself. Loaded
 * when the first request is made, because loading it takes longer than everything else at start.
 */
export function createOpenAiClient(options: ConnectionOptions): () => Promise<OpenAI> {
  let client: Promise<OpenAI> | undefined;
  return () => (client ??= load(options));
}

async function load(options: ConnectionOptions): Promise<OpenAI> {
  const { OpenAI: Client } = await import('openai/client');
  const defaultHeaders = options.apiKey === undefined ? { Authorization: null } : {};
  const all: ClientOptions = {
    apiKey: options.apiKey ?? NO_KEY,
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: options.baseUrl,
    timeout: options.connectTimeoutMs,
    maxRetries: 0,
    fetch: options.fetch,
    fetchOptions: {},
    defaultHeaders,
    defaultQuery: {},
    dangerouslyAllowBrowser: false,
    logLevel: 'off',
    logger: { error: silent, warn: silent, info: silent, debug: silent },
  };
  class ExplicitClient extends Client {
    constructor() {
      super(all);
      // The one thing without an option: headers from OPENAI_CUSTOM_HEADERS, which the constructor mixes in.
      this._options.defaultHeaders = defaultHeaders;
    }
  }
  return new ExplicitClient();
}

import type { Clock, LlmAdapter } from '@orion/contracts';
import { defined, KeysInUse } from '@orion/contracts';
import { createAdapter } from '@orion/llm-adapters';

import type { Settings } from './config/settings.ts';
import { TokenMeter } from './context/token-meter.ts';
import { redactAdapter } from './keys/redacted-adapter.ts';
import type { OrionOptions, ProviderIdentity, ProviderOptions } from './orion.ts';

/** What is known before a provider is asked for; its key comes with it. */
export function keysOf(options: OrionOptions, settings: Settings): KeysInUse {
  const { provider, telemetry, mcp } = options;
  const { databaseUrl } = settings;
  const headers = Object.entries(telemetry?.headers ?? {})
    .filter(([name]) => /auth|key|token|secret|cookie/iu.test(name))
    // A scheme may precede it.
    .map(([, value]) => value.split(' ').at(-1));
  const password = URL.parse(databaseUrl ?? '')?.password ?? '';
  const given =
    typeof provider === 'object' ? [provider.apiKey, ...Object.values(provider.keys ?? {})] : [];
  return new KeysInUse([...given, ...headers, ...(mcp?.secrets ?? []), decodedPassword(password)]);
}

function decodedPassword(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

export type Connected = { readonly adapter: LlmAdapter; readonly identity: ProviderIdentity };
type Opened = Connected & { close(): Promise<void> };

export type ProviderConnection = {
  /** Rejects for options that make no adapter; the next turn tries again. */
  connect(defaults: ProviderIdentity | null): Promise<Connected>;
  close(): Promise<void>;
};

/**
 * Makes the adapter when the first turn asks for it. What the options leave open comes from the session that is
 * recovered: its provider, model and base URL, never a key.
 */
export function providerConnection(
  {
    adapter: own,
    provider: options,
    onRetry,
  }: Pick<OrionOptions, 'provider' | 'adapter' | 'onRetry'>,
  settings: Settings,
  clock: Clock,
  keys: KeysInUse,
  meter: TokenMeter = new TokenMeter(),
): ProviderConnection {
  const allOpened = new Map<string, Promise<Opened>>();

  async function open(
    given: ProviderOptions | undefined,
    defaults: ProviderIdentity | null,
  ): Promise<Opened> {
    const provider = given?.type ?? defaults?.provider ?? 'openai';
    const kept = given?.type === undefined || given.type === defaults?.provider ? defaults : null;
    const model = given?.model ?? kept?.model;
    const baseUrl = given?.baseUrl ?? kept?.baseUrl;
    // A key is for the provider that it was given with, whatever a session says.
    const apiKey =
      given?.apiKey !== undefined && (given.type ?? 'openai') === provider
        ? given.apiKey
        : given?.keys?.[provider];
    for (const used of [apiKey, ...Object.values(given?.keys ?? {})]) keys.add(used);
    const { silenceMs, contextTokens, outputTokens, prefill } = settings;
    const adapter = await createAdapter({
      provider,
      clock,
      ...defined({
        model,
        baseUrl,
        apiKey,
        onRetry,
        silenceMs: silenceMs ?? undefined,
        maxTokens: outputTokens ?? undefined,
        limits: defined({
          contextTokens: contextTokens ?? undefined,
          prefill: prefill ?? undefined,
        }),
        script: given?.script,
      }),
    });
    return {
      adapter: redactAdapter(adapter, keys, meter),
      identity: { provider, model: adapter.model, ...defined({ baseUrl }) },
      close: () => adapter.close(),
    };
  }

  return {
    async connect(defaults) {
      if (own !== undefined) {
        const identity = { provider: own.name, model: own.model };
        return { adapter: redactAdapter(own, keys, meter), identity };
      }
      const given = typeof options === 'function' ? options(defaults) : options;
      const key = JSON.stringify([given, defaults]);
      const opened = allOpened.get(key) ?? open(given, defaults);
      allOpened.set(key, opened);
      try {
        return await opened;
      } catch (error) {
        allOpened.delete(key);
        throw error;
      }
    },
    async close() {
      for (const opened of allOpened.values()) await (await opened).close();
      allOpened.clear();
    },
  };
}

import { OrionError } from '@orion/contracts';
import type { LlmAdapter } from '@orion/contracts';

import type { AdapterOptions } from './adapter-options.ts';
import { createAnthropicAdapter } from './anthropic/adapter.ts';
import { createOpenAiCompatibleAdapter } from './openai-compatible/adapter.ts';
import { createOpenAiResponsesAdapter } from './openai-responses/adapter.ts';

export type AdapterConfig = Omit<AdapterOptions, 'model'> & {
  /** A provider's name, or a model alias. */
  readonly provider: string;
  readonly model?: string;
  /** `scripted` only: the script, as JSON text or as an object. */
  readonly script?: string | Readonly<Record<string, unknown>>;
  /** `scripted` only: reads the documents that the script names. */
  readonly readDocument?: (path: string) => Promise<string>;
};

export type ManagedAdapter = LlmAdapter & {
  /** Gives back what the adapter holds. */
  close(): Promise<void>;
};

/** The adapters that talk to a provider's own server. */
const CREATORS: Readonly<Record<string, (options: AdapterOptions) => LlmAdapter>> = {
  openai: createOpenAiCompatibleAdapter,
  'openai-responses': createOpenAiResponsesAdapter,
  anthropic: createAnthropicAdapter,
};

/** The providers of this version. */
export const PROVIDER_NAMES: readonly string[] = [...Object.keys(CREATORS), 'scripted'];

export type ModelAlias = {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl?: string;
};

/** Model names that stand for a whole configuration. What a configuration itself says wins. */
export const MODEL_ALIASES: Readonly<Record<string, ModelAlias>> = {
  'gpt-4.1': { provider: 'openai', model: 'gpt-4.1' },
  'gpt-4.1-mini': { provider: 'openai', model: 'gpt-4.1-mini' },
  'gpt-4o': { provider: 'openai', model: 'gpt-4o' },
  'gpt-4o-mini': { provider: 'openai', model: 'gpt-4o-mini' },
  deepseek: { provider: 'openai', model: 'deepseek-chat', baseUrl: 'https://api.deepseek.com/v1' },
  'deepseek-chat': {
    provider: 'openai',
    model: 'deepseek-chat',
    baseUrl: 'https://api.deepseek.com/v1',
  },
  'deepseek-reasoner': {
    provider: 'openai',
    model: 'deepseek-reasoner',
    baseUrl: 'https://api.deepseek.com/v1',
  },
};

/** The adapter that a configuration names. Throws an `OrionError` for a configuration that cannot work. */
export async function createAdapter(config: AdapterConfig): Promise<ManagedAdapter> {
  const alias = Object.hasOwn(MODEL_ALIASES, config.provider)
    ? MODEL_ALIASES[config.provider]
    : undefined;
  const provider = alias?.provider ?? config.provider;
  if (provider === 'scripted') return await createScripted(config);
  const create = Object.hasOwn(CREATORS, provider) ? CREATORS[provider] : undefined;
  if (create === undefined) throw unknownProvider(provider);
  return createRemote(create, config, alias);
}

function createRemote(
  create: (options: AdapterOptions) => LlmAdapter,
  config: AdapterConfig,
  alias: ModelAlias | undefined,
): ManagedAdapter {
  const { provider: _provider, script: _script, readDocument: _read, ...options } = config;
  const model = config.model ?? alias?.model;
  if (model === undefined || model === '') {
    throw new OrionError({ code: 'MODEL_MISSING', message: 'No model is named' });
  }
  // A server of one's own may need no key; a vendor's always does.
  if (config.apiKey === undefined && config.baseUrl === undefined) {
    throw new OrionError({ code: 'API_KEY_MISSING', message: 'There is no API key' });
  }
  const baseUrl = config.baseUrl ?? alias?.baseUrl;
  const adapter = create({ ...options, model, ...(baseUrl === undefined ? {} : { baseUrl }) });
  return { ...adapter, close: () => Promise.resolve() };
}

async function createScripted(config: AdapterConfig): Promise<ManagedAdapter> {
  if (config.script === undefined) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The provider "scripted" needs a script',
      hint: 'Name its file with --script.',
    });
  }
  const { createScriptedAdapter } = await import('./scripted/adapter.ts');
  return createScriptedAdapter(config.script, {
    ...(config.model === undefined ? {} : { model: config.model }),
    ...(config.temperature === undefined ? {} : { temperature: config.temperature }),
    ...(config.maxTokens === undefined ? {} : { maxTokens: config.maxTokens }),
    ...(config.readDocument === undefined ? {} : { readDocument: config.readDocument }),
  });
}

function unknownProvider(provider: string): OrionError {
  const available = `Available: ${PROVIDER_NAMES.join(', ')}; model aliases: ${Object.keys(MODEL_ALIASES).join(', ')}.`;
  const message = `There is no provider "${provider}"`;
  return new OrionError({ code: 'PROVIDER_UNKNOWN', message, hint: available });
}

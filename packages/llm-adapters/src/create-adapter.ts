import { OrionError, defined } from '@orion/contracts';
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
  /** Releases what the adapter holds. */
  close(): Promise<void>;
};

/** The adapters of real providers. */
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

/** Model names that imply a whole configuration. Explicit settings take precedence. */
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

/** Creates the adapter that a configuration names. Throws an `OrionError` for a configuration that cannot work. */
export async function createAdapter(config: AdapterConfig): Promise<ManagedAdapter> {
  const alias = ownValue(MODEL_ALIASES, config.provider);
  const provider = alias?.provider ?? config.provider;
  if (provider === 'scripted') return await createScripted(config);
  const create = ownValue(CREATORS, provider);
  if (create === undefined) {
    throw new OrionError({
      code: 'PROVIDER_UNKNOWN',
      message: `There is no provider "${provider}"`,
      hint: `Available: ${PROVIDER_NAMES.join(', ')}; model aliases: ${Object.keys(MODEL_ALIASES).join(', ')}.`,
    });
  }
  const { provider: _provider, script: _script, readDocument: _read, ...options } = config;
  const model = config.model ?? alias?.model ?? '';
  if (model === '') {
    throw new OrionError({ code: 'MODEL_MISSING', message: 'No model is named' });
  }
  // A self-hosted server may need no key; a vendor's always does.
  if (config.apiKey === undefined && config.baseUrl === undefined) {
    throw new OrionError({ code: 'API_KEY_MISSING', message: 'There is no API key' });
  }
  const baseUrl = config.baseUrl ?? alias?.baseUrl;
  const adapter = create({ ...options, ...defined({ baseUrl }), model });
  return { ...adapter, close: () => Promise.resolve() };
}

async function createScripted(config: AdapterConfig): Promise<ManagedAdapter> {
  const { script, model, temperature, maxTokens, readDocument } = config;
  if (script === undefined) {
    throw new OrionError({
      code: 'CONFIG_INVALID',
      message: 'The provider "scripted" needs a script',
      hint: 'Pass it as `script`.',
    });
  }
  const { createScriptedAdapter } = await import('./scripted/adapter.ts');
  return createScriptedAdapter(script, defined({ model, temperature, maxTokens, readDocument }));
}

function ownValue<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

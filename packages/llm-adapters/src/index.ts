export { createAdapter, MODEL_ALIASES, PROVIDER_NAMES } from './create-adapter.ts';
export type { AdapterConfig, ManagedAdapter, ModelAlias } from './create-adapter.ts';
export { createOpenAiCompatibleAdapter, OPENAI_BASE_URL } from './openai-compatible/adapter.ts';
export type { OpenAiCompatibleOptions } from './openai-compatible/adapter.ts';
export type { FetchFunction } from './openai-compatible/client.ts';

import type { LlmAdapter } from '@orion/contracts';

import type { AdapterOptions } from '../adapter-options.ts';
import { createAnthropicAdapter } from '../anthropic/adapter.ts';
import { createOpenAiCompatibleAdapter } from '../openai-compatible/adapter.ts';
import { createOpenAiResponsesAdapter } from '../openai-responses/adapter.ts';

/** The wire formats by the names that recordings use. */
export const FORMATS = ['openai-chat', 'openai-responses', 'anthropic-messages'] as const;

export type FormatName = (typeof FORMATS)[number];

const CREATORS: Readonly<Record<FormatName, (options: AdapterOptions) => LlmAdapter>> = {
  'openai-chat': createOpenAiCompatibleAdapter,
  'openai-responses': createOpenAiResponsesAdapter,
  'anthropic-messages': createAnthropicAdapter,
};

export function createAdapterOf(
  format: FormatName,
  options: Partial<AdapterOptions> & { readonly baseUrl: string },
): LlmAdapter {
  return CREATORS[format]({ model: 'm', ...options });
}

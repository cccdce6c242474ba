import type { LlmAdapter } from '@orion/contracts';

import { checkOptions } from '../adapter-options.ts';
import type { AdapterOptions } from '../adapter-options.ts';
import { createOpenAiClient } from '../openai-client.ts';
import { createStreamingAdapter } from '../streaming-adapter.ts';
import { ChunkFormat } from './chunk-format.ts';
import { quirksOf } from './quirks.ts';
import { buildRequest } from './request.ts';

/** `baseUrl`: where `/chat/completions` is appended; OpenAI itself when left out. */
export type OpenAiCompatibleOptions = AdapterOptions;

export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

const OPTIONAL_PARAMETERS = [
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'stream_options',
  'parallel_tool_calls',
  'tool_choice',
] as const;
const LIMIT_NAMES: ReadonlySet<string> = new Set(['max_completion_tokens', 'max_tokens']);

/** Chat completions, spoken by OpenAI, DeepSeek, Groq, OpenRouter, Ollama, vLLM, LM Studio, llama.cpp and others. */
export function createOpenAiCompatibleAdapter(options: OpenAiCompatibleOptions): LlmAdapter {
  const checked = checkOptions(options, OPENAI_BASE_URL);
  const quirks = quirksOf(checked.baseUrl.hostname, checked.model);
  const getClient = createOpenAiClient(checked.connection);
  return createStreamingAdapter(
    {
      name: 'openai',
      model: checked.model,
      limits: checked.limits,
      writesThinkTags: true,
      address: checked.address,
      redact: checked.redact,
      buildRequest: (messages, send, refusals) =>
        buildRequest(messages, send, { ...checked, quirks, refusals }),
      post: async (body, signal) => {
        const client = await getClient();
        return await client.post('/chat/completions', { body, signal, stream: true }).asResponse();
      },
      createFormat: (message) => new ChunkFormat(message, checked.redact),
      optionalParameters: OPTIONAL_PARAMETERS,
      swaps: LIMIT_NAMES,
    },
    checked.streaming,
  );
}

import type { LlmAdapter } from '@orion/contracts';

import { bearer, checkOptions, endpoint } from '../adapter-options.ts';
import type { AdapterOptions } from '../adapter-options.ts';
import { REASONING_DETAILS, REASONING_FIELDS } from '../historic-reasoning.ts';
import { postJson } from '../stream/post-json.ts';
import type { OptionalParameters } from '../refused-parameters.ts';
import { createStreamingAdapter } from '../streaming-adapter.ts';
import { ChunkFormat } from './chunk-format.ts';
import { quirksOf } from './quirks.ts';
import { buildRequest } from './request.ts';

const NAME = 'openai';

/** `baseUrl`: where `/chat/completions` is appended; by default OpenAI. */
export type OpenAiCompatibleOptions = AdapterOptions;

export const OPENAI_BASE_URL = 'https://api.openai.com/v1';

const OPTIONAL: OptionalParameters = {
  paths: [
    'max_completion_tokens',
    'max_tokens',
    'temperature',
    'stream_options',
    'tool_choice',
    'stop',
  ],
  inLists: [...REASONING_FIELDS, REASONING_DETAILS].map((field) => `messages.${field}`),
  otherNames: new Map([
    ['max_completion_tokens', 'max_tokens'],
    ['max_tokens', 'max_completion_tokens'],
  ]),
};

/** Chat completions: OpenAI, DeepSeek, Groq, OpenRouter, Ollama, vLLM, LM Studio, llama.cpp and others. */
export function createOpenAiCompatibleAdapter(options: OpenAiCompatibleOptions): LlmAdapter {
  const checked = checkOptions(options, OPENAI_BASE_URL);
  const quirks = quirksOf(checked.baseUrl.hostname, checked.model);
  const url = endpoint(checked.baseUrl, '/chat/completions');
  const headers = bearer(checked.apiKey);
  return createStreamingAdapter(
    {
      name: NAME,
      writesThinkTags: true,
      buildRequest: (messages, send) =>
        buildRequest(messages, send, { ...checked, adapter: NAME, quirks }),
      post: (body, signal) => postJson({ ...checked.connection, url, headers, body, signal }),
      createFormat: (message) => new ChunkFormat(message),
      optional: OPTIONAL,
    },
    checked,
  );
}

import type { LlmAdapter } from '@orion/contracts';

import { bearer, checkOptions, endpoint } from '../adapter-options.ts';
import type { AdapterOptions } from '../adapter-options.ts';
import { OPENAI_BASE_URL } from '../openai-compatible/adapter.ts';
import { postJson } from '../stream/post-json.ts';
import { createStreamingAdapter } from '../streaming-adapter.ts';
import { responsesQuirks } from './quirks.ts';
import { buildResponsesRequest } from './request.ts';
import { ResponseFormat } from './response-format.ts';

const NAME = 'openai-responses';

/** `baseUrl`: where `/responses` is appended; by default OpenAI. */
export type OpenAiResponsesOptions = AdapterOptions;

/** The Responses API: OpenAI, LM Studio, vLLM and others. */
export function createOpenAiResponsesAdapter(options: OpenAiResponsesOptions): LlmAdapter {
  const checked = checkOptions(options, OPENAI_BASE_URL);
  const quirks = responsesQuirks(checked.baseUrl.hostname, checked.model);
  const url = endpoint(checked.baseUrl, '/responses');
  const headers = bearer(checked.apiKey);
  return createStreamingAdapter(
    {
      name: NAME,
      writesThinkTags: false,
      buildRequest: (messages, send) =>
        buildResponsesRequest(messages, send, { ...checked, adapter: NAME, quirks }),
      post: (body, signal) => postJson({ ...checked.connection, url, headers, body, signal }),
      createFormat: (message) => new ResponseFormat(message),
      optional: { paths: ['max_output_tokens', 'temperature', 'tool_choice', 'store', 'include'] },
    },
    checked,
  );
}

import type { LlmAdapter } from '@orion/contracts';

import { checkOptions } from '../adapter-options.ts';
import type { AdapterOptions } from '../adapter-options.ts';
import { createOpenAiClient } from '../openai-client.ts';
import { OPENAI_BASE_URL } from '../openai-compatible/adapter.ts';
import { createStreamingAdapter } from '../streaming-adapter.ts';
import { responsesQuirks } from './quirks.ts';
import { buildResponsesRequest } from './request.ts';
import { ResponseFormat } from './response-format.ts';

/** `baseUrl`: where `/responses` is appended; OpenAI itself when left out. */
export type OpenAiResponsesOptions = AdapterOptions;

/** Responses, spoken by OpenAI, and by LM Studio, vLLM and others beside chat completions. */
export function createOpenAiResponsesAdapter(options: OpenAiResponsesOptions): LlmAdapter {
  const checked = checkOptions(options, OPENAI_BASE_URL);
  const quirks = responsesQuirks(checked.baseUrl.hostname, checked.model);
  const getClient = createOpenAiClient(checked.connection);
  return createStreamingAdapter(
    {
      name: 'openai-responses',
      model: checked.model,
      limits: checked.limits,
      writesThinkTags: false,
      address: checked.address,
      redact: checked.redact,
      buildRequest: (messages, send, refusals) =>
        buildResponsesRequest(messages, send, { ...checked, quirks, refusals }),
      post: async (body, signal) => {
        const client = await getClient();
        return await client.post('/responses', { body, signal, stream: true }).asResponse();
      },
      createFormat: (message) => new ResponseFormat(message, checked.redact),
      optionalParameters: ['max_output_tokens', 'temperature', 'tool_choice', 'store'],
      swaps: new Set(),
    },
    checked.streaming,
  );
}

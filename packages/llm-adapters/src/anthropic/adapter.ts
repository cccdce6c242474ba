import type { LlmAdapter } from '@orion/contracts';

import { checkOptions } from '../adapter-options.ts';
import type { AdapterOptions } from '../adapter-options.ts';
import { createStreamingAdapter } from '../streaming-adapter.ts';
import { createAnthropicClient } from './client.ts';
import { MessageFormat } from './message-format.ts';
import { messagesQuirks } from './quirks.ts';
import { buildMessagesRequest } from './request.ts';

/** `baseUrl`: where `/v1/messages` is appended, given with the version or without it. */
export type AnthropicOptions = AdapterOptions;

export const ANTHROPIC_BASE_URL = 'https://api.anthropic.com';

/** Messages, spoken by Anthropic and by servers that imitate it. */
export function createAnthropicAdapter(options: AnthropicOptions): LlmAdapter {
  const checked = checkOptions(options, ANTHROPIC_BASE_URL);
  const quirks = messagesQuirks(checked.baseUrl.hostname, checked.model);
  const getClient = createAnthropicClient(checked.connection, quirks.ownKeyHeader);
  return createStreamingAdapter(
    {
      name: 'anthropic',
      model: checked.model,
      limits: checked.limits,
      writesThinkTags: false,
      address: checked.address,
      redact: checked.redact,
      buildRequest: (messages, send, refusals) =>
        buildMessagesRequest(messages, send, { ...checked, quirks, refusals }),
      post: async (body, signal) => {
        const client = await getClient();
        return await client.post('/v1/messages', { body, signal, stream: true }).asResponse();
      },
      createFormat: (message) => new MessageFormat(message, checked.redact),
      optionalParameters: ['temperature', 'tool_choice', 'output_config'],
      swaps: new Set(),
    },
    checked.streaming,
  );
}

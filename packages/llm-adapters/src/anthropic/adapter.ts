import type { LlmAdapter } from '@orion/contracts';

import { bearer, checkOptions, endpoint } from '../adapter-options.ts';
import type { AdapterOptions } from '../adapter-options.ts';
import { postJson } from '../stream/post-json.ts';
import { createStreamingAdapter } from '../streaming-adapter.ts';
import { MessageFormat } from './message-format.ts';
import { messagesQuirks } from './quirks.ts';
import { buildMessagesRequest } from './request.ts';

const NAME = 'anthropic';

/** `baseUrl`: where `/v1/messages` is appended, with or without the `/v1`. */
export type AnthropicOptions = AdapterOptions;

export const ANTHROPIC_BASE_URL = 'https://api.anthropic.com';

/** The Messages API, of Anthropic and of compatible servers. */
export function createAnthropicAdapter(options: AnthropicOptions): LlmAdapter {
  const checked = checkOptions(options, ANTHROPIC_BASE_URL);
  const quirks = messagesQuirks(checked.baseUrl.hostname, checked.model);
  const url = endpoint(withoutVersion(checked.baseUrl), '/v1/messages');
  const headers = {
    'anthropic-version': '2023-06-01',
    ...bearer(checked.apiKey),
    ...(checked.apiKey !== undefined && quirks.ownKeyHeader ? { 'x-api-key': checked.apiKey } : {}),
  };
  return createStreamingAdapter(
    {
      name: NAME,
      writesThinkTags: false,
      buildRequest: (messages, send) =>
        buildMessagesRequest(messages, send, { ...checked, adapter: NAME, quirks }),
      post: (body, signal) => postJson({ ...checked.connection, url, headers, body, signal }),
      createFormat: (message) => new MessageFormat(message),
      optional: { paths: ['temperature', 'tool_choice', 'output_config', 'stop_sequences'] },
    },
    checked,
  );
}

function withoutVersion(baseUrl: URL): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '');
  return url;
}

import type { Message, SendOptions } from '@orion/contracts';

import type { CheckedOptions } from './adapter-options.ts';

/** As the history of a conversation is cut to a model's context. */
const BYTES_PER_TOKEN = 3;

/** A shorter answer is of little use. */
const MIN_ANSWER_TOKENS = 1024;

/** The part of a context that an answer may always take: the estimate is too high for most texts. */
const MIN_ANSWER_SHARE = 1 / 8;

/**
 * The options with a limit of output tokens that fits the context together with the request. Servers reserve the whole
 * limit, and refuse a request that leaves less.
 */
export function withinContext(
  messages: readonly Message[],
  options: SendOptions,
  { maxTokens, limits: { contextTokens } }: Pick<CheckedOptions, 'maxTokens' | 'limits'>,
): SendOptions {
  const wanted = options.max_tokens ?? maxTokens;
  if (contextTokens === null) return options;
  const least = Math.max(MIN_ANSWER_TOKENS, Math.floor(contextTokens * MIN_ANSWER_SHARE));
  if (wanted <= least) return options;
  const request = JSON.stringify([messages, options.tools, options.responseFormat]);
  const left = contextTokens - Math.ceil(Buffer.byteLength(request) / BYTES_PER_TOKEN);
  return { ...options, max_tokens: Math.min(wanted, Math.max(left, least)) };
}

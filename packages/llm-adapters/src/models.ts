import type { ModelLimits } from '@orion/contracts';

type ModelRow = { readonly name: RegExp } & Required<ModelLimits>;

/**
 * What is known of models: how much they read and write in one message, whether they go on with an assistant
 * message that the request ends with, and whether they take a temperature. Those that think first have one of their
 * own, and refuse any other or pay no heed to it. Names as the providers use them; `vendor/model`, as routers name
 * models, counts as `model`. The first row that fits wins.
 *
 * A configuration can say otherwise. A model that is not listed has no limits here: its context is what
 * ORION_CONTEXT_TOKENS says, and its answers are limited to a size that every server takes.
 */
const MODELS: readonly ModelRow[] = [
  // Anthropic. From 4.6 on a request must not end with an assistant message.
  {
    name: /^claude-(opus-4-6|sonnet-4-[6-9])/,
    contextTokens: 200_000,
    outputTokens: 64_000,
    prefill: false,
    temperature: true,
  },
  {
    name: /^claude-opus-4-[7-9]/,
    contextTokens: 200_000,
    outputTokens: 64_000,
    prefill: false,
    temperature: false,
  },
  {
    name: /^claude-(fable|mythos|opus-[5-9]|sonnet-[5-9]|haiku-[5-9])/,
    contextTokens: 200_000,
    outputTokens: 64_000,
    prefill: false,
    temperature: false,
  },
  {
    name: /^claude-(sonnet|haiku)-4|^claude-3-7-sonnet|^claude-opus-4-5/,
    contextTokens: 200_000,
    outputTokens: 64_000,
    prefill: true,
    temperature: true,
  },
  {
    name: /^claude-opus-4/,
    contextTokens: 200_000,
    outputTokens: 32_000,
    prefill: true,
    temperature: true,
  },
  {
    name: /^claude-3-5/,
    contextTokens: 200_000,
    outputTokens: 8192,
    prefill: true,
    temperature: true,
  },
  {
    name: /^claude-3/,
    contextTokens: 200_000,
    outputTokens: 4096,
    prefill: true,
    temperature: true,
  },
  // OpenAI.
  {
    name: /^gpt-5(?!.*-chat)/,
    contextTokens: 400_000,
    outputTokens: 128_000,
    prefill: false,
    temperature: false,
  },
  {
    name: /^gpt-5.*-chat/,
    contextTokens: 128_000,
    outputTokens: 16_384,
    prefill: false,
    temperature: true,
  },
  {
    name: /^gpt-4\.1/,
    contextTokens: 1_047_576,
    outputTokens: 32_768,
    prefill: false,
    temperature: true,
  },
  {
    name: /^(gpt-4o|chatgpt-4o)/,
    contextTokens: 128_000,
    outputTokens: 16_384,
    prefill: false,
    temperature: true,
  },
  {
    name: /^gpt-4-turbo/,
    contextTokens: 128_000,
    outputTokens: 4096,
    prefill: false,
    temperature: true,
  },
  {
    name: /^gpt-3\.5-turbo/,
    contextTokens: 16_385,
    outputTokens: 4096,
    prefill: false,
    temperature: true,
  },
  {
    name: /^o[1-9]\d*(-|$)/,
    contextTokens: 200_000,
    outputTokens: 100_000,
    prefill: false,
    temperature: false,
  },
  {
    name: /^gpt-oss/,
    contextTokens: 131_072,
    outputTokens: 32_768,
    prefill: false,
    temperature: false,
  },
  // Others.
  {
    name: /^deepseek-reasoner/,
    contextTokens: 128_000,
    outputTokens: 65_536,
    prefill: false,
    temperature: false,
  },
  {
    name: /^deepseek-chat/,
    contextTokens: 128_000,
    outputTokens: 8192,
    prefill: false,
    temperature: true,
  },
  {
    name: /^kimi-k2/,
    contextTokens: 131_072,
    outputTokens: 16_384,
    prefill: false,
    temperature: false,
  },
  {
    name: /^grok-4/,
    contextTokens: 256_000,
    outputTokens: 32_768,
    prefill: false,
    temperature: false,
  },
  {
    name: /^grok-3/,
    contextTokens: 131_072,
    outputTokens: 16_384,
    prefill: false,
    temperature: true,
  },
];

const UNKNOWN: ModelLimits = {
  contextTokens: null,
  outputTokens: null,
  prefill: false,
  temperature: false,
};

export function modelLimits(model: string): ModelLimits {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const row = MODELS.find((candidate) => candidate.name.test(name));
  if (row === undefined) return UNKNOWN;
  const { contextTokens, outputTokens, prefill, temperature } = row;
  return { contextTokens, outputTokens, prefill, temperature };
}

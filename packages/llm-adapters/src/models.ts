import type { ModelLimits } from '@orion/contracts';

type ModelRow = readonly [
  name: RegExp,
  contextTokens: number,
  outputTokens: number,
  ...takes: ('prefill' | 'temperature')[],
];

/**
 * Well-known models: the size of their context, the limit of one answer, whether they continue an assistant message at
 * the end of a request, and whether they accept a temperature. Models that reason have a temperature of their own, and
 * refuse or ignore any other. `vendor/model`, as routers name models, counts as `model`. The first matching row
 * applies.
 *
 * The configuration can override all of this. A model that is not listed has no limits here: its context is
 * ORION_CONTEXT_TOKENS, and its answers are limited to a size that every server accepts.
 */
const MODELS: readonly ModelRow[] = [
  // Anthropic. From 4.6 on, a request must not end with an assistant message.
  [/^claude-(opus-4-6|sonnet-4-[6-9])/, 200_000, 64_000, 'temperature'],
  [/^claude-(opus-4-[7-9]|(opus|sonnet|haiku)-[5-9]|fable|mythos)/, 200_000, 64_000],
  [/^claude-((sonnet|haiku)-4|opus-4-5|3-7-sonnet)/, 200_000, 64_000, 'prefill', 'temperature'],
  [/^claude-opus-4/, 200_000, 32_000, 'prefill', 'temperature'],
  [/^claude-3-5/, 200_000, 8192, 'prefill', 'temperature'],
  [/^claude-3/, 200_000, 4096, 'prefill', 'temperature'],
  // OpenAI.
  [/^gpt-5(?!.*-chat)/, 400_000, 128_000],
  [/^gpt-5.*-chat/, 128_000, 16_384, 'temperature'],
  [/^gpt-4\.1/, 1_047_576, 32_768, 'temperature'],
  [/^(gpt-4o|chatgpt-4o)/, 128_000, 16_384, 'temperature'],
  [/^gpt-4-turbo/, 128_000, 4096, 'temperature'],
  [/^gpt-3\.5-turbo/, 16_385, 4096, 'temperature'],
  [/^o[1-9]\d*(-|$)/, 200_000, 100_000],
  [/^gpt-oss/, 131_072, 32_768],
  // Others.
  [/^deepseek-reasoner/, 128_000, 65_536],
  [/^deepseek-chat/, 128_000, 8192, 'temperature'],
  [/^kimi-k2/, 131_072, 16_384],
  [/^grok-4/, 256_000, 32_768],
  [/^grok-3/, 131_072, 16_384, 'temperature'],
];

const UNKNOWN: ModelLimits = {
  contextTokens: null,
  outputTokens: null,
  prefill: false,
  temperature: false,
};

export function modelLimits(model: string): ModelLimits {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const row = MODELS.find(([pattern]) => pattern.test(name));
  if (row === undefined) return UNKNOWN;
  const [, contextTokens, outputTokens, ...takes] = row;
  return {
    contextTokens,
    outputTokens,
    prefill: takes.includes('prefill'),
    temperature: takes.includes('temperature'),
  };
}

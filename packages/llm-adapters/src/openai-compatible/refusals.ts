import type { ProviderFailure } from '../provider-error.ts';

/** Parameters without which a request means the same, only less exactly. */
export const OPTIONAL_PARAMETERS = [
  'max_completion_tokens',
  'max_tokens',
  'temperature',
  'stream_options',
  'parallel_tool_calls',
  'tool_choice',
] as const;

export type OptionalParameter = (typeof OPTIONAL_PARAMETERS)[number];

export type Refusal = {
  readonly parameter: OptionalParameter;
  readonly remedy: 'leave-out' | 'swap';
};

const NOT_KNOWN =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|not allowed|deprecated|invalid param/i;

/**
 * The optional parameter that a refused request names, if it was sent. The two names of the output limit are
 * swapped when the name is what the server objects to, and left out when it is the value.
 */
export function readRefusal(
  failure: ProviderFailure,
  namedParameter: string | undefined,
  sent: ReadonlySet<string>,
): Refusal | undefined {
  if (failure.status !== 400 && failure.status !== 422) return undefined;
  const candidates = OPTIONAL_PARAMETERS.filter((parameter) => sent.has(parameter));
  const parameter =
    candidates.find((candidate) => candidate === namedParameter) ??
    candidates.find((candidate) =>
      new RegExp(`(?<![\\w-])${candidate}(?![\\w-])`).test(failure.message),
    );
  if (parameter === undefined) return undefined;
  const isLimit = parameter === 'max_tokens' || parameter === 'max_completion_tokens';
  const words = `${failure.code ?? ''} ${failure.type ?? ''} ${failure.message}`;
  return { parameter, remedy: isLimit && NOT_KNOWN.test(words) ? 'swap' : 'leave-out' };
}

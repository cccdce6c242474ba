import type { ProviderFailure } from './provider-error.ts';

/** What to do with a parameter that a server refuses: leave it out, or send it under its other name. */
export type Remedy = 'leave-out' | 'swap';

/** What one server has refused so far. */
export type Refusals = ReadonlyMap<string, Remedy>;

const NOT_KNOWN =
  /unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra|not permitted|not allowed|deprecated|invalid param/i;

/**
 * The optional parameter that a refused request names, if it was sent. Of two names of one parameter (`swaps`) the
 * other one is tried when the name is what the server objects to, and none when it is the value.
 */
export function readRefusal(
  failure: ProviderFailure,
  namedParameter: string | undefined,
  candidates: readonly string[],
  swaps: ReadonlySet<string>,
): { readonly parameter: string; readonly remedy: Remedy } | undefined {
  if (failure.status !== 400 && failure.status !== 422) return undefined;
  const parameter =
    candidates.find((candidate) => candidate === namedParameter) ??
    candidates.find((candidate) =>
      new RegExp(`(?<![\\w-])${candidate}(?![\\w-])`).test(failure.message),
    );
  if (parameter === undefined) return undefined;
  const words = `${failure.code ?? ''} ${failure.type ?? ''} ${failure.message}`;
  return {
    parameter,
    remedy: swaps.has(parameter) && NOT_KNOWN.test(words) ? 'swap' : 'leave-out',
  };
}

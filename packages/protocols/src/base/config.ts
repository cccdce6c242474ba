import { OrionError, defined, isCount, isFields } from '@orion/contracts';
import type { ProtocolConfig, TurnBudget } from '@orion/contracts';

const COUNTS = {
  maxDuplicateAttempts: 3,
  maxIdleToolPhases: 2,
  stopSeconds: 120,
  stopTokens: 32_768,
};

/** The shared limits. Each protocol has defaults for its own limits. */
export const DEFAULT_PROTOCOL_CONFIG: ProtocolConfig = {
  ...COUNTS,
  limits: {},
  budget: { maxTurns: null, maxSeconds: null, maxTokens: null },
  debugShowToolResults: false,
};

export type ProtocolConfigInput = {
  readonly [Key in Exclude<keyof ProtocolConfig, 'budget'>]?: ProtocolConfig[Key] | undefined;
} & { readonly budget?: { readonly [Key in keyof TurnBudget]?: number | null | undefined } };

/**
 * Resolves the limits of a turn. Undefined values get their defaults, and 0 means 0. Rejects negative, fractional and
 * non-finite numbers with CONFIG_INVALID, because an invalid limit would not limit anything (R135).
 */
export function resolveProtocolConfig(input: ProtocolConfigInput = {}): ProtocolConfig {
  const { limits = {}, budget = {}, debugShowToolResults = false, temperature, maxTokens } = input;
  needObject('budget', budget);
  needObject('limits', limits);
  for (const [protocol, own] of Object.entries(limits)) {
    if (own === undefined) continue;
    needObject(`limits.${protocol}`, own);
    for (const [name, value] of Object.entries(own)) count(name, value, 0);
  }
  const limit = (name: keyof TurnBudget): number | null =>
    budget[name] === null ? null : count(name, budget[name], null);
  if (typeof debugShowToolResults !== 'boolean') {
    throw invalid('debugShowToolResults', 'true or false');
  }
  if (temperature !== undefined && !(Number.isFinite(temperature) && temperature >= 0)) {
    throw invalid('temperature', 'a number, 0 or more');
  }
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens >= 1)) {
    throw invalid('maxTokens', 'a whole number, 1 or more');
  }
  return {
    ...counts(COUNTS, input),
    limits,
    budget: {
      maxTurns: limit('maxTurns'),
      maxSeconds: limit('maxSeconds'),
      maxTokens: limit('maxTokens'),
    },
    debugShowToolResults,
    ...defined({ temperature, maxTokens }),
  };
}

/** The given numbers, with `defaults` for the rest. */
export function counts<Counts extends Readonly<Record<string, number>>>(
  defaults: Counts,
  given: { readonly [Name in keyof Counts]?: number | undefined },
): Counts {
  const entries = Object.entries(defaults);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, count(name, given[name], value)]),
  ) as Counts;
}

function count<Default>(name: string, value: unknown, otherwise: Default): number | Default {
  if (value === undefined) return otherwise;
  if (!isCount(value)) throw invalid(name, 'a whole number, 0 or more');
  return value;
}

function needObject(name: string, value: unknown): void {
  if (!isFields(value)) throw invalid(name, 'an object');
}

function invalid(name: string, expected: string): OrionError {
  return new OrionError({ code: 'CONFIG_INVALID', message: `${name} must be ${expected}` });
}

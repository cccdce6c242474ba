import { OrionError } from '@orion/contracts';
import type { ProtocolConfig, TurnBudget } from '@orion/contracts';

export const DEFAULT_PROTOCOL_CONFIG: ProtocolConfig = {
  maxIterations: 5,
  maxPhaseCycles: 3,
  maxToolsPerToolPhase: 1,
  maxControllerTurns: 20,
  maxToolCallsPerStep: 5,
  maxInvalidOutputs: 2,
  maxDuplicateAttempts: 3,
  maxIdleToolPhases: 2,
  stopSeconds: 120,
  stopTokens: 32_768,
  budget: { maxTurns: null, maxSeconds: null, maxTokens: null },
  debugShowToolResults: false,
};

export type ProtocolConfigInput = {
  readonly [Key in Exclude<keyof ProtocolConfig, 'budget'>]?: ProtocolConfig[Key] | undefined;
} & { readonly budget?: { readonly [Key in keyof TurnBudget]?: number | null | undefined } };

const COUNTS = [
  'maxIterations',
  'maxPhaseCycles',
  'maxToolsPerToolPhase',
  'maxControllerTurns',
  'maxToolCallsPerStep',
  'maxInvalidOutputs',
  'maxDuplicateAttempts',
  'maxIdleToolPhases',
  'stopSeconds',
  'stopTokens',
] as const;

/**
 * The limits of a turn: what is undefined has its default, 0 means 0, and a number that is negative, broken or
 * not finite is refused with CONFIG_INVALID, since a wrong limit is no limit (R135).
 */
export function resolveProtocolConfig(input: ProtocolConfigInput = {}): ProtocolConfig {
  const counts = { ...pick(DEFAULT_PROTOCOL_CONFIG) };
  for (const name of COUNTS) {
    const value = input[name];
    if (value === undefined) continue;
    if (!isCount(value)) throw invalid(name, 'a whole number, 0 or more');
    counts[name] = value;
  }
  const budget: unknown = input.budget;
  if (budget !== undefined && (typeof budget !== 'object' || budget === null)) {
    throw invalid('budget', 'an object');
  }
  const limit = (name: keyof TurnBudget): number | null => {
    const value = input.budget?.[name] ?? null;
    if (value !== null && !isCount(value)) throw invalid(name, 'a whole number, 0 or more');
    return value;
  };
  const { debugShowToolResults = DEFAULT_PROTOCOL_CONFIG.debugShowToolResults } = input;
  if (typeof debugShowToolResults !== 'boolean') {
    throw invalid('debugShowToolResults', 'true or false');
  }
  const { temperature, maxTokens } = input;
  if (temperature !== undefined && !(Number.isFinite(temperature) && temperature >= 0)) {
    throw invalid('temperature', 'a number, 0 or more');
  }
  if (maxTokens !== undefined && !(Number.isSafeInteger(maxTokens) && maxTokens >= 1)) {
    throw invalid('maxTokens', 'a whole number, 1 or more');
  }
  return {
    ...counts,
    budget: {
      maxTurns: limit('maxTurns'),
      maxSeconds: limit('maxSeconds'),
      maxTokens: limit('maxTokens'),
    },
    debugShowToolResults,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

function pick(config: ProtocolConfig): Record<(typeof COUNTS)[number], number> {
  const { budget: _budget, debugShowToolResults: _shown, ...counts } = config;
  return counts;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function invalid(name: string, expected: string): OrionError {
  return new OrionError({ code: 'CONFIG_INVALID', message: `${name} must be ${expected}` });
}

import { OrionError } from '@orion/contracts';
import type { ProtocolConfig } from '@orion/contracts';

export const DEFAULT_PROTOCOL_CONFIG: ProtocolConfig = {
  maxIterations: 5,
  maxPhaseCycles: 3,
  maxDuplicateAttempts: 3,
  maxToolsPerToolPhase: 1,
  debugShowToolResults: false,
};

export type ProtocolConfigInput = {
  readonly [Key in keyof ProtocolConfig]?: ProtocolConfig[Key] | undefined;
};

/**
 * The limits of a turn: what is undefined has its default, 0 means 0, and a number that is negative, broken or
 * not finite is refused with CONFIG_INVALID, since a wrong limit is no limit (R135).
 */
export function resolveProtocolConfig(input: ProtocolConfigInput = {}): ProtocolConfig {
  const count = (
    name: 'maxIterations' | 'maxPhaseCycles' | 'maxDuplicateAttempts' | 'maxToolsPerToolPhase',
  ): number => {
    const value = input[name];
    if (value === undefined) return DEFAULT_PROTOCOL_CONFIG[name];
    if (!Number.isSafeInteger(value) || value < 0) throw invalid(name, 'a whole number, 0 or more');
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
    maxIterations: count('maxIterations'),
    maxPhaseCycles: count('maxPhaseCycles'),
    maxDuplicateAttempts: count('maxDuplicateAttempts'),
    maxToolsPerToolPhase: count('maxToolsPerToolPhase'),
    debugShowToolResults,
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

function invalid(name: string, expected: string): OrionError {
  return new OrionError({ code: 'CONFIG_INVALID', message: `${name} must be ${expected}` });
}

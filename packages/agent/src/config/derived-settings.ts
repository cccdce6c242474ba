import type { LlmAdapter, Mode, ProtocolConfig } from '@orion/contracts';
import type { SessionSettings } from '@orion/core';
import { resolveProtocolConfig } from '@orion/protocols';

import type { Settings } from './settings.ts';

/** What the settings mean for the parts that know nothing of them. */

export function protocolConfigOf(
  settings: Settings,
  limits: ProtocolConfig['limits'] = {},
): ProtocolConfig {
  const { maxTurns, maxSeconds, maxTokens } = settings;
  return resolveProtocolConfig({
    maxDuplicateAttempts: settings.maxDuplicateAttempts,
    maxIdleToolPhases: settings.maxIdleToolPhases,
    limits: {
      ...limits,
      standard: { maxIterations: settings.maxIterations },
      'two-stage': {
        maxPhaseCycles: settings.maxPhaseCycles,
        maxToolsPerToolPhase: settings.maxToolsPerToolPhase,
      },
      controller: {
        maxControllerTurns: settings.controllerMaxTurns,
        maxToolCallsPerStep: settings.controllerMaxCallsPerStep,
        maxInvalidOutputs: settings.controllerMaxInvalid,
      },
    },
    stopSeconds: settings.stopSeconds,
    stopTokens: settings.stopTokens,
    debugShowToolResults: settings.debugShowToolResults,
    budget: { maxTurns, maxSeconds, maxTokens },
    temperature: settings.temperature ?? undefined,
  });
}

/** How a model that takes a temperature is sampled when nothing is configured (R143). */
const TEMPERATURES: Readonly<Record<Mode, number>> = { plan: 0.7, act: 0.3 };

export function sampled(config: ProtocolConfig, mode: Mode, adapter: LlmAdapter): ProtocolConfig {
  if (config.temperature !== undefined || adapter.limits?.temperature !== true) return config;
  return { ...config, temperature: TEMPERATURES[mode] };
}

export function sessionSettingsOf(settings: Settings, adapter: LlmAdapter | null): SessionSettings {
  return {
    idleMs: settings.idleMs,
    maxIdlePrompts: settings.maxIdlePrompts,
    saveLines: settings.saveLines,
    saveMs: settings.saveMs,
    maxBytes: settings.maxBytes,
    doneMode: settings.doneMode,
    doneSettleMs: settings.doneSettleMs,
    strict: settings.strict,
    stripFence: settings.stripFence,
    seam: settings.seam,
    askOmissions: !settings.allowOmissions,
    signalsMessageEnd: adapter?.signalsMessageEnd ?? true,
  };
}

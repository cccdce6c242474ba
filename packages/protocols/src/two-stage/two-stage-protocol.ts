import type { ProtocolContext } from '@orion/contracts';
import { BuiltInProtocol } from '../base/base-protocol.ts';
import type { ProtocolDefaults, ProtocolParts } from '../base/base-protocol.ts';
import { ownLimits } from '../base/own.ts';
import { explainStop } from '../base/stop-notices.ts';
import { runToolLoop } from '../base/tool-loop.ts';
import type { LoopRules } from '../base/tool-loop.ts';

const LIMITS = {
  /** Pairs of an action and a tool phase. */
  maxPhaseCycles: 3,
  maxToolsPerToolPhase: 1,
};

/**
 * 1. An action phase ends with the first complete call. Reading stops there and the request is closed, so the model
 *    generates nothing after it (R145, R148). `maxToolsPerToolPhase` allows more calls at once.
 * 2. A tool phase runs that call, and the next action phase begins with its result.
 * 3. `turnState.cyclesUsed` counts tool phases and messages in which no call could be run, so that broken calls end
 *    too (R150). Duplicates use no cycle and have their own limit (R151, R173).
 */
function rulesOf({ config, turnState }: ProtocolContext): LoopRules {
  const { maxPhaseCycles, maxToolsPerToolPhase } = ownLimits(config, 'two-stage', LIMITS);
  return {
    name: 'two-stage',
    callsPerMessage: maxToolsPerToolPhase,
    ceiling: () => {
      const { cyclesUsed } = turnState;
      return cyclesUsed >= maxPhaseCycles
        ? { reason: 'ceiling', limit: 'maxPhaseCycles', value: cyclesUsed }
        : null;
    },
    explain: (stop) =>
      stop.reason === 'ceiling'
        ? `Maximum tool execution cycles (${maxPhaseCycles}) reached.`
        : explainStop(stop),
    correction: 'Tool call incomplete or malformed. Continue reasoning.',
  };
}

/** Prevents the model from calling tools faster than it reads their results: one call at a time. */
export function createTwoStageProtocol(defaults?: ProtocolDefaults): BuiltInProtocol {
  const run: ProtocolParts['run'] = (context, signal) =>
    runToolLoop(rulesOf(context), context, signal);
  return new BuiltInProtocol({ name: 'two-stage', run }, defaults);
}

import { BuiltInProtocol } from '../base/base-protocol.ts';
import type { ProtocolDefaults, ProtocolParts } from '../base/base-protocol.ts';
import { ownLimits } from '../base/own.ts';
import { explainStop } from '../base/stop-notices.ts';
import { runToolLoop } from '../base/tool-loop.ts';
import type { LoopRules } from '../base/tool-loop.ts';

/** How many consecutive messages may fail to run a call because of the same mistake. */
const CORRECTIVE_ITERATIONS = 1;

const LIMITS = {
  /** Model calls with tools. */
  maxIterations: 5,
};

/**
 * All calls of a message run in order (R161). `turnState.iterations` counts model calls with tools over all runs of a
 * turn (R162). A second consecutive message in which no call could be run, because of the same mistake, also ends
 * tool use (R164).
 */
const RULES: LoopRules = {
  name: 'standard',
  callsPerMessage: Number.POSITIVE_INFINITY,
  ceiling: ({ turnState: { iterations, refusedInARow }, config }) => {
    if (refusedInARow > CORRECTIVE_ITERATIONS) {
      return { reason: 'invalid_output', limit: 'correctiveIterations', value: refusedInARow };
    }
    return iterations >= ownLimits(config, 'standard', LIMITS).maxIterations
      ? { reason: 'ceiling', limit: 'maxIterations', value: iterations }
      : null;
  },
  explain: (stop) =>
    stop.reason === 'ceiling'
      ? `Maximum tool iterations (${stop.value}) reached.`
      : explainStop(stop),
  correction: null,
};

/** The protocol for models with native tool calls that may make several in one message. */
export function createStandardProtocol(defaults?: ProtocolDefaults): BuiltInProtocol {
  const run: ProtocolParts['run'] = (context, signal) => runToolLoop(RULES, context, signal);
  return new BuiltInProtocol({ name: RULES.name, run }, defaults);
}

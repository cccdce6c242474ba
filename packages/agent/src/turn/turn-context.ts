import { BEGIN_TOOL_NAME } from '@orion/contracts';
import type { LlmAdapter, Mode } from '@orion/contracts';
import type { BegunSession, BeginRequest } from '@orion/core';
import { createToolRegistry } from '@orion/tool-runner';

import { sampled } from '../config/derived-settings.ts';
import { wrapAdapter } from '../keys/wrapped-adapter.ts';
import { unlessAborted } from '../store/deadline.ts';
import { fileTools } from './file-tools.ts';
import type { TurnContext } from './session/session-run.ts';
import type { TurnScope } from './turn-scope.ts';

/**
 * The context of a turn, whether it is fresh or recovers a session: the same tools in both, so that the provider's
 * prompt cache holds. `leftOut` receives the reason for each tool that cannot be offered.
 */
export function turnContext(
  scope: TurnScope,
  adapter: LlmAdapter,
  mode: Mode,
  begin: (request: BeginRequest, callId: string) => Promise<BegunSession>,
  leftOut?: (why: string) => void,
): TurnContext {
  const { dependencies, ids, state, signal } = scope;
  const { workspace, writePlanTool, protocolConfig, trace, clock, patterns, keys } = dependencies;
  const { redact } = keys;
  for (const why of dependencies.missingTools) leftOut?.(why);
  // It may ask a person about a protected path; all else in it takes next to no time.
  const beginUntimed: typeof begin = (...begun) => scope.clock.standStill(() => begin(...begun));
  const { ownership } = dependencies;
  return {
    mode,
    projectId: ids.projectId,
    requestId: ids.requestId,
    adapter: turnAdapter(adapter, scope),
    toolRegistry: createToolRegistry(
      [...fileTools(workspace, writePlanTool, beginUntimed), ...dependencies.tools],
      {
        approve: async (request) => {
          const { call, effect } = request;
          const { signal: callSignal } = request.context;
          const { reviewCall } = dependencies;
          const approval = await scope.clock.standStill(() =>
            dependencies.approveCall(
              request,
              reviewCall === null ? undefined : (action, cut) => reviewCall(action, call.id, cut),
            ),
          );
          // A begin has no effect but a session, which is found again.
          const isBegun = approval.approved && effect === 'write' && call.name !== BEGIN_TOOL_NAME;
          const takeBack = isBegun ? scope.owned?.checkpoints.begun(call.id) : undefined;
          try {
            // Whatever a person took for the answer, the turn has to be this process's now.
            await unlessAborted(callSignal, ownership.confirm());
          } finally {
            // The registry runs no call after that.
            if (callSignal.aborted) takeBack?.();
          }
          return approval;
        },
        outputs: dependencies.outputs,
        conversation: {
          id: ids.conversationId,
          messageId: ids.requestId,
          messages: () => scope.messages,
        },
        clock,
        patterns,
        redact,
        ...(leftOut === undefined ? {} : { leftOut }),
      },
    ),
    traceService: trace,
    redact,
    config: sampled(protocolConfig, mode, adapter),
    turnState: state,
    clock: scope.clock,
    startedAt: (scope.startedAt ??= scope.clock.monotonic()),
    signal,
    reportsCheckpoints: scope.owned !== null,
  };
}

/** No request is sent for a turn that is not this process's any more. What a request waits for takes none of its time. */
function turnAdapter(adapter: LlmAdapter, { clock, dependencies }: TurnScope): LlmAdapter {
  const { ownership } = dependencies;
  return wrapAdapter(adapter, async function* ofTurn(send) {
    // Only a turn that somebody else may take is asked whose it is.
    if (ownership.fence !== null) await clock.standStill(() => ownership.confirm());
    yield* send({ wait: (wait) => clock.standStill(wait) });
  });
}

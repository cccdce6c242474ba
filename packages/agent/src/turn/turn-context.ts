import type { LlmAdapter, Mode } from '@orion/contracts';
import type { BegunSession, BeginRequest } from '@orion/core';
import { createToolRegistry } from '@orion/tool-runner';

import { sampled } from '../config/derived-settings.ts';
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
  return {
    mode,
    projectId: ids.projectId,
    requestId: ids.requestId,
    adapter,
    toolRegistry: createToolRegistry(
      [...fileTools(workspace, writePlanTool, begin), ...dependencies.tools],
      {
        approve: dependencies.approveCall,
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
    clock,
    startedAt: (scope.startedAt ??= clock.monotonic()),
    signal,
  };
}

import { systemClock } from '@orion/contracts';
import type { Clock, Redact, Tool, ToolOutputStore, Workspace } from '@orion/contracts';
import { createLazyTraverser, createOutputTools } from '@orion/tool-runner';
import type { Traverser } from '@orion/tool-runner';
import { createProgramLog } from '@orion/workspace';

import { actionApproval } from './commands/action-approval.ts';
import type { CallApprover } from './commands/action-approval.ts';
import { createCommandTool } from './commands/command-tool.ts';
import type { Settings } from './config/settings.ts';
import { lazyMcpClient } from './mcp/lazy-client.ts';
import type { OrionOptions } from './orion.ts';
import { outputKeeper } from './store/output-keeper.ts';

/** The tools of every turn besides those that read and write files, and what they need. */
export type TurnTools = {
  readonly offered: readonly Tool[];
  /** Further ones of servers, which are started by the first turn. */
  readonly connect: ReturnType<typeof lazyMcpClient>['offer'];
  readonly approve: CallApprover;
  readonly outputs: ReturnType<typeof outputKeeper>;
  /** Asks stored outputs, for the tools and for everyone else. */
  readonly traverser: Traverser;
  close(): Promise<void>;
};

export function turnTools(parts: {
  readonly options: OrionOptions;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly workspace: Workspace;
  readonly toolOutputs: ToolOutputStore;
  readonly redact: Redact;
}): TurnTools {
  const { options, settings, clock, workspace, toolOutputs, redact } = parts;
  const { commands, userDirectory, reviewAction: review, tools = [] } = options;
  const commandTools =
    commands === undefined
      ? []
      : [createCommandTool({ commands, settings, workspace, userDirectory, clock, redact })];
  const traverser = createLazyTraverser(systemClock);
  const outputTools = createOutputTools({ store: toolOutputs, traverser });
  const mcp = lazyMcpClient(options.mcp, { clock, redact, root: workspace.root }, (server) => {
    const log = createProgramLog(workspace.stateDirectory, 'mcp', `${server}.log`);
    return { ...log, append: (text) => log.append(redact(text)) };
  });
  return {
    offered: [...outputTools, ...commandTools, ...tools],
    connect: (signal) => mcp.offer(signal),
    approve: actionApproval({ review, userDirectory, workspace: workspace.root }, settings),
    outputs: outputKeeper(toolOutputs, clock, settings),
    traverser,
    async close() {
      await mcp.close();
      await traverser.close();
    },
  };
}

import type { Tool, Workspace } from '@orion/contracts';
import type { WritePlanTool } from '@orion/core';
import type { OfferedTools } from '@orion/tool-runner/mcp';

import type { ToolListing } from './orion.ts';
import { fileTools } from './turn/file-tools.ts';

/** The tools that a turn in ACT mode is offered, as a person reads them. */
export function listTools(
  parts: {
    readonly workspace: Workspace;
    readonly writePlanTool: WritePlanTool;
    readonly offered: readonly Tool[];
  },
  { tools: ofServers, leftOut }: OfferedTools,
): ToolListing {
  const begin = (): Promise<never> => Promise.reject(new Error('a listed tool is not called'));
  const own = [...fileTools(parts.workspace, parts.writePlanTool, begin), ...parts.offered];
  return {
    tools: [...own, ...ofServers].map((tool) => {
      const { name, description } = tool.definition;
      return { name, description, effect: tool.effect, server: serverOf(tool) };
    }),
    leftOut,
  };
}

function serverOf(tool: Tool): string | null {
  // Only an action has arguments, and none is run.
  const action = tool.effect === 'write' ? tool.action?.({}) : undefined;
  return action?.kind === 'mcp' ? action.server : null;
}

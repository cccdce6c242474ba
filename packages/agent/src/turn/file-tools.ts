import type { Tool, Workspace } from '@orion/contracts';
import type { BegunSession, BeginRequest, WritePlanTool } from '@orion/core';
import {
  createCodeDefinitionsTool,
  createListFilesTool,
  createReadFileTool,
  createSearchFilesTool,
} from '@orion/tool-runner';

/** The tools of every turn that read and write files. */
export function fileTools(
  workspace: Workspace,
  writePlanTool: WritePlanTool,
  begin: (request: BeginRequest, callId: string) => Promise<BegunSession>,
): readonly Tool[] {
  return [
    createReadFileTool(workspace),
    createListFilesTool(workspace),
    createSearchFilesTool(workspace),
    createCodeDefinitionsTool(workspace),
    writePlanTool.tool(begin),
  ];
}

import { isFields } from '@orion/contracts';
import type { McpAction, McpPart } from '@orion/contracts';

import { readUserList, writeUserList } from './user-list.ts';

const LIST = 'mcp-tools.json';
const PARTS: readonly McpPart[] = ['description', 'schema', 'command'];

type Definition = McpAction['definition'];

/**
 * What has changed in a tool since this user agreed to it: nothing of a tool that is known as it is, null of one that
 * is not known. `workspace` is part of the name: servers of two workspaces may have the same.
 */
export async function changesOfTool(
  userDirectory: string,
  workspace: string,
  action: McpAction,
): Promise<readonly McpPart[] | null> {
  const known = (await readTools(userDirectory))[keyOf(workspace, action)];
  if (!isDefinition(known)) return null;
  return PARTS.filter((part) => known[part] !== action.definition[part]);
}

/** Rejects with WRITE_FAILED. */
export async function rememberTool(
  userDirectory: string,
  workspace: string,
  action: McpAction,
): Promise<void> {
  const tools = {
    ...(await readTools(userDirectory)),
    [keyOf(workspace, action)]: action.definition,
  };
  await writeUserList(userDirectory, LIST, { tools });
}

async function readTools(userDirectory: string): Promise<Readonly<Record<string, unknown>>> {
  const { tools } = await readUserList(userDirectory, LIST);
  return isFields(tools) ? tools : {};
}

function keyOf(workspace: string, { server, tool }: McpAction): string {
  return JSON.stringify([workspace, server, tool]);
}

function isDefinition(value: unknown): value is Definition {
  return isFields(value) && PARTS.every((part) => typeof value[part] === 'string');
}

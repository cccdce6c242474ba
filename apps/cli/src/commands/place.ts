import { relative } from 'node:path';

import { commandWord } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';

/** The option with which a command finds this workspace from the current folder; empty when it needs none. */
export function placeOf(context: CommandContext, workspace: string): string {
  const { currentDirectory } = context;
  if (workspace === currentDirectory) return '';
  const way = relative(currentDirectory, workspace);
  const shorter = way.length < workspace.length ? way : workspace;
  return `-C ${commandWord(shorter.startsWith('-') ? `./${shorter}` : shorter)}`;
}

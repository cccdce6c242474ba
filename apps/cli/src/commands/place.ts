import { relative, resolve } from 'node:path';

import { commandWord } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';

/** The folder that the options or ORION_CWD name, whatever is there. */
export function namedWorkspace(
  { currentDirectory, environment }: CommandContext,
  cwd: string | undefined,
): string {
  return resolve(currentDirectory, cwd ?? (environment['ORION_CWD'] || '.'));
}

/** The option with which a command that is typed here finds this workspace; empty when it needs none. */
export function placeOf(context: CommandContext, workspace: string): string {
  const { currentDirectory, environment } = context;
  // Whether ORION_CWD is still set there is not known.
  if (workspace === currentDirectory && !environment['ORION_CWD']) return '';
  const way = relative(currentDirectory, workspace) || '.';
  const shorter = way.length < workspace.length ? way : workspace;
  return `-C ${commandWord(shorter.startsWith('-') ? `./${shorter}` : shorter)}`;
}

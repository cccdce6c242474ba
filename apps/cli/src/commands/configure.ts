import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';

import { loadConfiguration } from '@orion/agent';
import type { Configuration } from '@orion/agent';
import { OrionError } from '@orion/contracts';

import { flagsOf, type TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';

/** The configuration of a command; what it had to leave out is reported on stderr. */
export async function configure(
  context: CommandContext,
  options: TurnOptions,
): Promise<Configuration> {
  const { environment, homeDirectory } = context;
  const workspace = await findWorkspace(context, options.cwd);
  const flags = flagsOf(options);
  const configuration = await loadConfiguration({ flags, environment, workspace, homeDirectory });
  for (const notice of configuration.notices) context.screen.line(notice, 'warning');
  return configuration;
}

export async function findWorkspace(
  context: CommandContext,
  cwd: string | undefined,
): Promise<string> {
  const variable = context.environment['ORION_CWD'];
  const named = cwd ?? (variable === '' ? undefined : variable);
  const workspace = resolve(context.currentDirectory, named ?? '.');
  const found = await stat(workspace).catch(() => null);
  if (found?.isDirectory() === true) return workspace;
  const source = cwd !== undefined ? '--cwd: ' : named !== undefined ? 'ORION_CWD: ' : '';
  throw new OrionError({
    code: 'CONFIG_INVALID',
    message: `${source}there is no folder ${JSON.stringify(workspace)}.`,
    hint: 'Name a folder that exists.',
  });
}

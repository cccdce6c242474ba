import { stat } from 'node:fs/promises';

import { loadConfiguration } from '@orion/agent';
import type { Configuration } from '@orion/agent';
import { OrionError } from '@orion/contracts';

import { flagsOf, type TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { inPlace } from '../rendering/error-lines.ts';
import { namedWorkspace, placeOf } from './place.ts';

/** The configuration of a command; what it had to leave out is reported on stderr. */
export async function configure(
  context: CommandContext,
  options: TurnOptions,
): Promise<Configuration> {
  const { environment, homeDirectory } = context;
  const workspace = await findWorkspace(context, options.cwd);
  const flags = flagsOf(options);
  const configuration = await loadConfiguration({ flags, environment, workspace, homeDirectory });
  const place = placeOf(context, workspace);
  for (const notice of configuration.notices) {
    context.screen.line(inPlace(notice, place), 'warning');
  }
  return configuration;
}

export async function findWorkspace(
  context: CommandContext,
  cwd: string | undefined,
): Promise<string> {
  const workspace = namedWorkspace(context, cwd);
  const found = await stat(workspace).catch(() => null);
  if (found?.isDirectory() === true) return workspace;
  const variable = context.environment['ORION_CWD'] ? 'ORION_CWD: ' : '';
  const source = cwd !== undefined ? '--cwd: ' : variable;
  throw new OrionError({
    code: 'CONFIG_INVALID',
    message: `${source}there is no folder ${JSON.stringify(workspace)}.`,
    hint: 'Name a folder that exists.',
  });
}

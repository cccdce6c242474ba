import { diagnose } from '@orion/agent';
import type { Finding } from '@orion/agent';

import { flagsOf, type TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { inCommandWords } from '../rendering/command-hints.ts';
import { inPlace } from '../rendering/error-lines.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { alignColumns } from '../terminal/table.ts';
import { findWorkspace } from './configure.ts';
import { placeOf } from './place.ts';
import { printJson } from './with-orion.ts';

/** `orion doctor`: what a turn depends on, a line each, and below it what to do. Exit code 1 if there is a problem. */
export async function doctorCommand(
  context: CommandContext,
  options: TurnOptions & { readonly online?: boolean },
): Promise<CommandResult> {
  const { environment, homeDirectory } = context;
  const { online = false, ...others } = options;
  const findings: Finding[] = [];
  const workspace = await findWorkspace(context, options.cwd);
  const place = placeOf(context, workspace);
  const request = {
    flags: flagsOf(others),
    environment,
    homeDirectory,
    workspace,
    online,
    signal: new AbortController().signal,
  };
  for await (const finding of diagnose(request)) findings.push(finding);
  if (options.json === true) await printJson(context, { findings });
  else
    await context.stdout.write(alignColumns(findings.flatMap((finding) => rowsOf(finding, place))));
  const failed = findings.some(({ status }) => status === 'problem');
  return { exitCode: failed ? EXIT.failure : EXIT.done };
}

function rowsOf(finding: Finding, place: string): readonly (readonly string[])[] {
  const { area, status, message, code } = finding;
  const { hint } =
    code === undefined ? finding : inCommandWords({ ...finding, code, retryable: false });
  const said = code === undefined ? message : `${message} (${code})`;
  const row = [status, area, sanitizeLine(inPlace(said, place))];
  return hint === undefined ? [row] : [row, ['', '', `→ ${sanitizeLine(inPlace(hint, place))}`]];
}

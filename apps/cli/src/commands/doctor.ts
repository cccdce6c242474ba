import { diagnose } from '@orion/agent';
import type { Finding } from '@orion/agent';

import { flagsOf, type TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { inCommandWords } from '../rendering/command-hints.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { alignColumns } from '../terminal/table.ts';
import { findWorkspace } from './configure.ts';
import { printJson } from './with-orion.ts';

/** `orion doctor`: what a turn depends on, a line each, and below it what to do. Exit code 1 if there is a problem. */
export async function doctorCommand(
  context: CommandContext,
  options: TurnOptions & { readonly online?: boolean },
): Promise<CommandResult> {
  const { environment, homeDirectory } = context;
  const { online = false, ...others } = options;
  const findings: Finding[] = [];
  const request = {
    flags: flagsOf(others),
    environment,
    homeDirectory,
    workspace: await findWorkspace(context, options.cwd),
    online,
    signal: new AbortController().signal,
  };
  for await (const finding of diagnose(request)) findings.push(finding);
  if (options.json === true) await printJson(context, { findings });
  else await context.stdout.write(alignColumns(findings.flatMap(rowsOf)));
  const failed = findings.some(({ status }) => status === 'problem');
  return { exitCode: failed ? EXIT.failure : EXIT.done };
}

function rowsOf(finding: Finding): readonly (readonly string[])[] {
  const { area, status, message, code } = finding;
  const { hint } =
    code === undefined ? finding : inCommandWords({ ...finding, code, retryable: false });
  const row = [status, area, sanitizeLine(code === undefined ? message : `${message} (${code})`)];
  return hint === undefined ? [row] : [row, ['', '', `→ ${sanitizeLine(hint)}`]];
}

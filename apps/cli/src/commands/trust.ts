import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { findWorkspace } from './configure.ts';

export type TrustOptions = {
  readonly cwd?: string;
  readonly revoke?: boolean;
  readonly json?: boolean;
};

const HASH_DIGITS = 12;

/** `orion trust`: accepts the workspace's configuration file as it is now, or takes that back. */
export async function trustCommand(
  context: CommandContext,
  options: TrustOptions,
): Promise<CommandResult> {
  const { environment, homeDirectory, screen, stdout } = context;
  const { distrustWorkspace, trustWorkspace } = await import('@orion/agent');
  const workspace = await findWorkspace(context, options.cwd);
  const request = { environment, workspace, homeDirectory, now: Date.now() };
  if (options.revoke === true) {
    await distrustWorkspace(request);
    if (options.json === true) {
      await stdout.write(`${JSON.stringify({ version: 1, workspace, trusted: false })}\n`);
    } else {
      screen.line(sanitizeLine(`What ${workspace} configures is no longer accepted.`));
    }
    return { exitCode: EXIT.done };
  }
  const report = await trustWorkspace(request);
  if (options.json === true) {
    await stdout.write(`${JSON.stringify({ version: 1, workspace, trusted: true, ...report })}\n`);
    return { exitCode: EXIT.done };
  }
  for (const [name, value] of Object.entries(report.settings)) {
    await stdout.write(`${sanitizeLine(`${name} = ${JSON.stringify(value)}`)}\n`);
  }
  screen.line(
    sanitizeLine(
      `Accepted ${report.file} as it is now (sha256 ${report.sha256.slice(0, HASH_DIGITS)}). ` +
        'A changed file needs a new `orion trust`; `orion trust --revoke` takes it back.',
    ),
  );
  return { exitCode: EXIT.done };
}

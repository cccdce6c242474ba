import { OrionError } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { readTypedLine } from '../terminal/ask.ts';
import { formatBytes, plural } from '../terminal/format.ts';
import { configure, jsonFlag } from './configure.ts';
import { openOrion } from './open-orion.ts';

export type CleanSessionsOptions = {
  readonly cwd?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
};

/** `orion clean-sessions`: moves interrupted sessions to the attic and says how many. */
export async function cleanSessionsCommand(
  context: CommandContext,
  options: CleanSessionsOptions,
): Promise<CommandResult> {
  const all = options.all === true;
  if (all && options.yes !== true && !context.interactive) {
    throw new OrionError({
      code: 'USAGE',
      message: '--all asks before it moves anything, and there is no terminal to ask on.',
      hint: 'Add --yes.',
    });
  }
  const configuration = await configure(context, options.cwd, jsonFlag(options.json));
  const orion = await openOrion(configuration);
  try {
    if (all && options.yes !== true && !(await confirm(context))) {
      context.screen.line('Nothing was moved.');
      return { exitCode: EXIT.done };
    }
    const report = await orion.cleanSessions({ all });
    if (configuration.json) {
      await context.stdout.write(`${JSON.stringify({ version: 1, ...report })}\n`);
    } else {
      for (const session of report.moved) {
        context.screen.line(
          `${session.session_id}: ${session.target_file ?? 'unknown target'}, ${plural(session.lines, 'line')}`,
          'faint',
        );
      }
      if (report.locks > 0) {
        context.screen.line(`${plural(report.locks, 'lock')} that nobody holds removed.`);
      }
      await context.stdout.write(
        `${plural(report.moved.length, 'write session')}, ${formatBytes(report.bytes)} put aside for 30 days.\n`,
      );
    }
  } finally {
    await orion.close();
  }
  return { exitCode: EXIT.done };
}

async function confirm(context: CommandContext): Promise<boolean> {
  context.screen.ask('Put all interrupted write sessions aside, the recent ones too? (y/N) ');
  const typed = await readTypedLine(context.stdin, new AbortController().signal);
  if (typed !== null) context.screen.answered();
  return ['y', 'yes'].includes((typed ?? '').trim().toLowerCase());
}

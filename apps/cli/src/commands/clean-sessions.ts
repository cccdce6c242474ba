import { usage } from '../command-line/usage.ts';
import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { confirm } from '../terminal/ask.ts';
import { formatBytes, plural } from '../terminal/format.ts';
import { printJson, withOrion } from './with-orion.ts';

export type CleanSessionsOptions = TurnOptions & { readonly all?: boolean; readonly yes?: boolean };

/** `orion clean-sessions`: moves interrupted sessions to the attic and says how many. */
export async function cleanSessionsCommand(
  context: CommandContext,
  options: CleanSessionsOptions,
): Promise<void> {
  const { screen, stdout } = context;
  const { all = false, yes = false } = options;
  const asks = all && !yes;
  if (asks && !context.interactive) {
    throw usage(
      '--all asks before it moves anything, and there is no terminal to ask on.',
      'Add --yes.',
    );
  }
  await withOrion(context, options, {}, async ({ orion, configuration }) => {
    const question = 'Put all interrupted write sessions aside, the recent ones too? (y/N) ';
    if (asks && !(await confirm(context, question, new AbortController().signal))) {
      screen.line('Nothing was moved.');
      return;
    }
    const report = await orion.cleanSessions({ all });
    if (configuration.json) {
      await printJson(context, report);
      return;
    }
    for (const { session_id: id, target_file: target, lines } of report.moved) {
      screen.line(`${id}: ${target ?? 'unknown target'}, ${plural(lines, 'line')}`, 'faint');
    }
    if (report.locks > 0) screen.line(`${plural(report.locks, 'lock')} that nobody holds removed.`);
    await stdout.write(
      `${plural(report.moved.length, 'write session')}, ${formatBytes(report.bytes)} put aside for 30 days.\n`,
    );
  });
}

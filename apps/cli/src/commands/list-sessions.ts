import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { formatAge, formatCount } from '../terminal/format.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { printList, withOrion } from './with-orion.ts';

/** `orion list-sessions`: a table on stdout, or with `--json` one object. */
export async function listSessionsCommand(
  context: CommandContext,
  options: TurnOptions,
): Promise<void> {
  await withOrion(context, options, {}, async ({ orion, configuration }) => {
    await printList(context, configuration, {
      name: 'sessions',
      items: await orion.listSessions(),
      none: 'There are no write sessions.',
      headings: ['ID', 'STATUS', 'TARGET', 'OPERATION', 'AGE', 'LINES', 'BYTES'],
      cells: (session) =>
        [
          session.session_id,
          session.status === 'live' && session.pid !== undefined
            ? `live (pid ${session.pid})`
            : session.status,
          session.target_file ?? '-',
          session.operation ?? '-',
          formatAge(session.age_ms),
          formatCount(session.lines),
          formatCount(session.bytes),
        ].map(sanitizeLine),
    });
  });
}

import type { SessionListing } from '@orion/contracts';

import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { formatAge, formatCount } from '../terminal/format.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { alignColumns } from '../terminal/table.ts';
import { configure, jsonFlag } from './configure.ts';
import { openOrion } from './open-orion.ts';

/** `orion list-sessions`: a table on stdout, or with `--json` one object. */
export async function listSessionsCommand(
  context: CommandContext,
  options: { readonly cwd?: string; readonly json?: boolean },
): Promise<CommandResult> {
  const configuration = await configure(context, options.cwd, jsonFlag(options.json));
  const orion = await openOrion(configuration);
  try {
    const sessions = await orion.listSessions();
    if (configuration.json) {
      await context.stdout.write(`${JSON.stringify({ version: 1, sessions })}\n`);
    } else if (sessions.length === 0) {
      context.screen.line('There are no write sessions.');
    } else {
      await context.stdout.write(table(sessions));
    }
  } finally {
    await orion.close();
  }
  return { exitCode: EXIT.done };
}

const HEADINGS = ['ID', 'STATUS', 'TARGET', 'OPERATION', 'AGE', 'LINES', 'BYTES'];

function table(sessions: readonly SessionListing[]): string {
  const rows = sessions.map((session) =>
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
  );
  return alignColumns([HEADINGS, ...rows]);
}

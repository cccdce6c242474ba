import type { RecordedChange, UndoneFile } from '@orion/contracts';
import { OrionError } from '@orion/contracts';

import { flagsOf } from '../command-line/options.ts';
import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { EXIT } from '../process/exit-code.ts';
import type { CommandResult } from '../process/finish.ts';
import { withPlace } from '../rendering/write-lines.ts';
import { formatAge, plural } from '../terminal/format.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { alignColumns } from '../terminal/table.ts';
import { configure } from './configure.ts';
import { protectedPathQuestion } from './confirm-protected.ts';
import { placeOf } from './place.ts';
import { openOrion } from './open-orion.ts';

export type UndoOptions = Pick<TurnOptions, 'cwd' | 'allowPath' | 'allowHardLink' | 'json'> & {
  readonly list?: boolean;
  readonly force?: boolean;
};

const HASH_DIGITS = 12;

/** `orion undo`: takes a change back, or shows those that can be. */
export async function undoCommand(
  context: CommandContext,
  id: string | undefined,
  options: UndoOptions,
): Promise<CommandResult> {
  const { list, force, ...others } = options;
  if (list === true && (id !== undefined || force === true)) {
    throw new OrionError({
      code: 'USAGE',
      message: '--list shows all changes and takes none back.',
      hint: 'Leave out --list, or the rest.',
    });
  }
  const configuration = await configure(context, options.cwd, flagsOf(others));
  const orion = await openOrion(configuration, {
    ...protectedPathQuestion(context, new AbortController().signal),
  });
  const { stdout, screen } = context;
  try {
    if (list === true) {
      const changes = await orion.listChanges();
      if (configuration.json) {
        await stdout.write(`${JSON.stringify({ version: 1, changes })}\n`);
      } else if (changes.length === 0) {
        screen.line('There are no changes that could be taken back.');
      } else {
        await stdout.write(table(changes, Date.now()));
      }
      return { exitCode: EXIT.done };
    }
    // A change that a kill kept from happening has a record all the same, and is not the latest one.
    await orion.housekeep();
    const report = await orion.undo({
      ...(id === undefined ? {} : { id }),
      ...(force === undefined ? {} : { force }),
    });
    if (configuration.json) {
      await stdout.write(`${JSON.stringify({ version: 1, ...report })}\n`);
    } else {
      for (const file of report.files) await stdout.write(`${sanitizeLine(undoneLine(file))}\n`);
      if (report.undo_id !== undefined) {
        const again = withPlace(
          `orion undo ${report.undo_id}`,
          placeOf(context, configuration.workspace),
        );
        screen.line(`\`${again}\` brings it back.`);
      }
    }
    return { exitCode: EXIT.done };
  } finally {
    await orion.close();
  }
}

function undoneLine(file: UndoneFile): string {
  const parts = [`${verb(file.outcome)} ${file.target_file}`];
  if (file.sha256 !== null) {
    parts.push(plural(file.bytes, 'byte'), `sha256 ${file.sha256.slice(0, HASH_DIGITS)}`);
  }
  if (file.not_kept.length > 0) parts.push(`not kept: ${file.not_kept.join(', ')}`);
  for (const warning of file.warnings) parts.push(`warning: ${warning}`);
  return parts.join('; ');
}

function verb(outcome: UndoneFile['outcome']): string {
  switch (outcome) {
    case 'restored':
      return 'Restored';
    case 'removed':
      return 'Removed';
    case 'unchanged':
      return 'Left as it was before the change:';
    default:
      return outcome satisfies never;
  }
}

const HEADINGS = ['ID', 'AGE', 'STATUS', 'FILES'];

function table(changes: readonly RecordedChange[], now: number): string {
  const rows = changes.map((change) =>
    [
      change.change_id,
      formatAge(now - Date.parse(change.created_at)),
      statusOf(change),
      change.files.map((file) => `${file.operation} ${file.target_file}`).join(', '),
    ].map(sanitizeLine),
  );
  return alignColumns([HEADINGS, ...rows]);
}

function statusOf(change: RecordedChange): string {
  if (change.foreign) return 'foreign';
  return change.status === 'undone' ? 'undone' : 'in effect';
}

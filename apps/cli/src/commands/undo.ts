import type { Configuration } from '@orion/agent';
import { defined, type RecordedChange, type UndoneFile } from '@orion/contracts';

import { usage } from '../command-line/usage.ts';
import type { TurnOptions } from '../command-line/options.ts';
import type { CommandContext } from '../process/context.ts';
import { withPlace } from '../rendering/write-lines.ts';
import { formatAge, plural } from '../terminal/format.ts';
import { sanitizeLine } from '../terminal/sanitize.ts';
import { protectedPathQuestion } from './confirm-protected.ts';
import { placeOf } from './place.ts';
import { printJson, printList, withOrion } from './with-orion.ts';

export type UndoOptions = TurnOptions & { readonly list?: boolean; readonly force?: boolean };

const HASH_DIGITS = 12;

/** `orion undo`: takes a change back, or shows those that can be. */
export async function undoCommand(
  context: CommandContext,
  id: string | undefined,
  options: UndoOptions,
): Promise<void> {
  const { list, force } = options;
  if (list === true && (id !== undefined || force === true)) {
    throw usage('--list shows all changes and takes none back.', 'Leave out --list, or the rest.');
  }
  const question = protectedPathQuestion(context, new AbortController().signal);
  await withOrion(context, options, question, async ({ orion, configuration }) => {
    if (list === true) {
      await printChanges(context, configuration, await Array.fromAsync(orion.changes()));
      return;
    }
    // A change that a kill kept from happening has a record all the same, and is not the latest one.
    await orion.housekeep();
    const report = await orion.undo(defined({ id, force }));
    if (configuration.json) {
      await printJson(context, report);
      return;
    }
    for (const file of report.files) {
      await context.stdout.write(`${sanitizeLine(undoneLine(file))}\n`);
    }
    if (report.undo_id === undefined) return;
    const place = placeOf(context, configuration.workspace);
    context.screen.line(`\`${withPlace(`orion undo ${report.undo_id}`, place)}\` brings it back.`);
  });
}

const OUTCOMES: Readonly<Record<UndoneFile['outcome'], string>> = {
  restored: 'Restored',
  removed: 'Removed',
  unchanged: 'Left as it was before the change:',
};

/** What became of one file. */
export function undoneLine(file: UndoneFile): string {
  const parts = [`${OUTCOMES[file.outcome]} ${file.target_file}`];
  if (file.sha256 !== null) {
    parts.push(plural(file.bytes, 'byte'), `sha256 ${file.sha256.slice(0, HASH_DIGITS)}`);
  }
  if (file.not_kept.length > 0) parts.push(`not kept: ${file.not_kept.join(', ')}`);
  for (const warning of file.warnings) parts.push(`warning: ${warning}`);
  return parts.join('; ');
}

async function printChanges(
  context: CommandContext,
  configuration: Configuration,
  changes: readonly RecordedChange[],
): Promise<void> {
  const now = Date.now();
  await printList(context, configuration, {
    name: 'changes',
    items: changes,
    none: 'There are no changes that can be undone.',
    headings: ['ID', 'AGE', 'STATUS', 'FILES'],
    cells: (change) =>
      [
        change.change_id,
        formatAge(now - Date.parse(change.created_at)),
        statusOf(change),
        change.files.map((file) => `${file.operation} ${file.target_file}`).join(', '),
      ].map(sanitizeLine),
  });
}

export function statusOf(change: RecordedChange): string {
  if (change.foreign) return 'foreign';
  return change.status === 'undone' ? 'undone' : 'in effect';
}

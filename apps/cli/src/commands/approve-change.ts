import type { ApproveChoice, ChangeProposal, ChangeReviewer, OrionOptions } from '@orion/agent';

import { usage } from '../command-line/usage.ts';
import type { CommandContext } from '../process/context.ts';
import { readTypedLine } from '../terminal/ask.ts';
import { diffLine, diffLines } from '../terminal/diff-text.ts';
import { formatCount, plural } from '../terminal/format.ts';
import type { LineKind } from '../terminal/screen.ts';

/** Lines of a diff that are shown before the person asks for more. */
const FIRST_LINES = 400;

/** What `--approve` means here. Throws USAGE when there is no terminal to ask on. */
export function approval(
  context: CommandContext,
  choice: ApproveChoice,
): NonNullable<OrionOptions['approve']> {
  if (choice !== 'ask') return choice;
  if (context.interactive) return createReviewer(context);
  throw usage(
    '--approve ask needs a terminal to ask on.',
    'Use --approve auto or --approve never.',
  );
}

/** Shows a person what is about to change and asks. */
function createReviewer(context: CommandContext): ChangeReviewer {
  return async ({ intent, changes }, signal) => {
    const { screen } = context;
    screen.line(
      `${plural(changes.length, 'file')} about to change: ${diffLine(intent)}`,
      'warning',
    );
    for (const change of changes) {
      screen.line(diffLine(headline(change)), 'warning');
      await showDiff(context, change, FIRST_LINES);
    }
    for (;;) {
      const what = changes.length === 1 ? 'this change' : `these ${changes.length} changes`;
      screen.ask(`Write ${what}? (y/N, d shows the whole diff) `);
      const typed = await readTypedLine(context.stdin, signal);
      if (typed === null) return { approved: false, reason: 'Nobody answered.' };
      screen.answered();
      const answer = typed.trim().toLowerCase();
      if (['y', 'yes'].includes(answer)) return { approved: true };
      if (['', 'n', 'no'].includes(answer))
        return { approved: false, reason: 'The person said no.' };
      if (['d', 'diff'].includes(answer)) {
        for (const change of changes) await showDiff(context, change, Infinity);
      } else {
        screen.line('y writes it, n or Enter does not, d shows the whole diff.');
      }
    }
  };
}

function headline({ real_path, operation, before, after }: ChangeProposal): string {
  const size =
    before === null
      ? plural(after.bytes, 'byte')
      : `${formatCount(before.bytes)} → ${plural(after.bytes, 'byte')}`;
  return `${operation} ${real_path}: ${size}; sha256 ${after.sha256.slice(0, 12)}`;
}

async function showDiff(
  { screen }: CommandContext,
  change: ChangeProposal,
  limit: number,
): Promise<void> {
  let shown = 0;
  let more = 0;
  for await (const line of diffLines(change.diff(), change.crlf)) {
    if (shown >= limit) {
      more += 1;
      continue;
    }
    shown += 1;
    screen.block(line, kindOf(line));
  }
  if (more > 0) screen.line(`… ${plural(more, 'more line')}: d shows all of them`, 'warning');
  if (shown === (change.crlf ? 1 : 0)) screen.line('No byte of it changes.');
}

function kindOf(line: string): LineKind {
  if (line.startsWith('+')) return 'success';
  if (line.startsWith('-')) return 'error';
  return line.startsWith('@@') ? 'faint' : 'notice';
}

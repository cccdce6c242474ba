import type { ApproveChoice, ChangeProposal, ChangeReviewer, OrionOptions } from '@orion/agent';

import { usage } from '../command-line/usage.ts';
import type { CommandContext } from '../process/context.ts';
import { askApproval } from '../terminal/ask.ts';
import { diffLine, diffLines } from '../terminal/diff-text.ts';
import { asSentence, formatCount, plural } from '../terminal/format.ts';
import type { LineKind } from '../terminal/tone.ts';

/** Lines of a diff that are shown before the person asks for more. */
const FIRST_LINES = 400;

type Answers = Readonly<Partial<Record<'all' | 'diff', string>>>;

const PLAN_ANSWERS: Answers = { diff: 'shows the whole diff' };
const TURN_ANSWERS: Answers = { all: 'writes all of this turn', ...PLAN_ANSWERS };

/** What `--approve` means here, for one plan or for turns. Throws USAGE when there is no terminal to ask on. */
export function approval(
  context: CommandContext,
  choice: ApproveChoice,
  scope: 'plan' | 'turn',
): NonNullable<OrionOptions['approve']> {
  if (choice !== 'ask') return choice;
  if (context.interactive)
    return createReviewer(context, scope === 'turn' ? TURN_ANSWERS : PLAN_ANSWERS);
  throw usage(
    '--approve ask needs a terminal to ask on.',
    'Use --approve auto or --approve never.',
  );
}

/**
 * Shows a person what is about to change and asks. `all` covers what else the turn writes, which its signal identifies,
 * but no protected path (R255). What was shown itself is asked about again when its bytes are not those any more (B18).
 */
function createReviewer(context: CommandContext, answers: Answers): ChangeReviewer {
  let all: { readonly turn: AbortSignal; readonly id: string } | null = null;
  return async ({ id, intent, changes }, signal) => {
    const { screen } = context;
    const showHeadlines = (): void => {
      for (const change of changes) screen.line(diffLine(headline(change)), 'warning');
    };
    const isCovered = all?.turn === signal && all.id !== id;
    if (isCovered && !changes.some((change) => change.protected)) {
      showHeadlines();
      return { approved: true };
    }
    screen.line(
      `${plural(changes.length, 'file')} about to change: ${diffLine(intent)}`,
      'warning',
    );
    for (const change of changes) {
      screen.line(diffLine(headline(change)), 'warning');
      await showDiff(context, change, FIRST_LINES);
    }
    for (;;) {
      // The diff may have pushed them off the screen.
      showHeadlines();
      const what = changes.length === 1 ? 'this change' : `these ${changes.length} changes`;
      const answer = await askApproval(context, `Write ${what}?`, answers, signal);
      if (answer === 'all') {
        all = { turn: signal, id };
        return { approved: true };
      }
      if (answer !== 'diff') {
        return answer.approved ? answer : { approved: false, reason: asSentence(answer.reason) };
      }
      for (const change of changes) await showDiff(context, change, Infinity);
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

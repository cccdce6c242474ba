import type { ApproveChoice, OrionOptions } from '@orion/agent';

import { changeReviewer } from '../approvals/review-changes.ts';
import { usage } from '../command-line/usage.ts';
import type { CommandContext } from '../process/context.ts';
import { askApproval } from '../terminal/ask.ts';

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
  if (!context.interactive) {
    throw usage(
      '--approve ask needs a terminal to ask on.',
      'Use --approve auto or --approve never.',
    );
  }
  const { screen } = context;
  const answers = scope === 'turn' ? TURN_ANSWERS : PLAN_ANSWERS;
  return changeReviewer({
    line: (text, tone) => screen.line(text, tone),
    diff: (lines) => {
      for (const { text, tone } of lines) screen.block(text, tone);
      return Promise.resolve(true);
    },
    ask: (question, signal) => askApproval(context, question, answers, signal),
  });
}

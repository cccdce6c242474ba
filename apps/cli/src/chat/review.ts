import type { ChangeReviewer, OrionOptions } from '@orion/agent';

import { limitedSignal, sleep, type Clock } from '@orion/contracts';

import { changeReviewer, type DiffLine, type ReviewAnswer } from '../approvals/review-changes.ts';
import { shownAction, TOO_LONG } from '../approvals/shown-action.ts';
import type { Approval } from '../terminal/answers.ts';
import { diffLine } from '../terminal/diff-text.ts';
import type { LineKind } from '../terminal/tone.ts';
import { choice, type Asking } from './asking.ts';
import type { Answer } from './controller.ts';
import type { FaceChoice } from './face.ts';

/** Where approvals are asked for. */
export type ReviewPlace = {
  line(text: string, tone: LineKind): void;
  /** See `printWhole` of the face. */
  whole(lines: readonly DiffLine[]): Promise<void>;
  readonly ask: Asking['ask'];
  readonly clock: Clock;
};

/** A question that nobody answers for so long is answered by no: somebody else may need the file. */
const ANSWER_WITHIN_MS = 10 * 60 * 1000;

const REASON = choice('(t)ell the model why not', 'Why not');
const CHANGE_CHOICES = [
  choice('(y)es'),
  choice('(n)o, keep the text'),
  choice('(a)ll of this turn'),
  choice('(d)iff in full'),
  REASON,
];
const ACTION_CHOICES = [choice('(y)es'), choice('(n)o'), REASON];
const PATH_CHOICES = [choice('(y)es'), choice('(n)o')];

/** Asks about changes of files. */
export function reviewChanges(place: ReviewPlace): ChangeReviewer {
  return changeReviewer({
    line: (text, tone) => place.line(text, tone),
    diff: (lines, signal) => showWhole(place, lines, signal),
    ask: (question, signal) => ask(place, question, CHANGE_CHOICES, signal),
  });
}

/** Asks about shell lines and tools of MCP servers. */
export function reviewActions(place: ReviewPlace): NonNullable<OrionOptions['reviewAction']> {
  return async (action, signal) => {
    const shown = shownAction(action);
    if (shown === null) return { approved: false, reason: TOO_LONG };
    for (const line of shown.intro) place.line(line, 'warning');
    const lines = shown.lines.map((text) => ({ text, tone: 'warning' }) as const);
    await showWhole(place, lines, signal);
    const answer = await ask(place, shown.question, ACTION_CHOICES, signal);
    // Neither is offered.
    return answer === 'all' || answer === 'diff' ? { approved: false, reason: '' } : answer;
  };
}

/** Asks about a protected path. */
export function confirmPaths(
  place: ReviewPlace,
  signal: () => AbortSignal,
): NonNullable<OrionOptions['confirmProtectedPath']> {
  return async (path, rule) => {
    const text = diffLine(`${path} is protected (${rule}). Write it?`);
    const answer = await place.ask(
      { kind: 'choice', text, choices: PATH_CHOICES, preset: null },
      signal(),
    );
    return answer?.value === 'y';
  };
}

/** Answers whether there is room for more: a terminal that does not read is waited for as long as for an answer. */
async function showWhole(
  place: ReviewPlace,
  lines: readonly DiffLine[],
  signal: AbortSignal,
): Promise<boolean> {
  const ended = new AbortController();
  const late = sleep(place.clock, ANSWER_WITHIN_MS, signal, ended.signal).then(() => false);
  const shown = place.whole(lines).then(() => true);
  return Promise.race([shown, late]).finally(() => ended.abort());
}

async function ask(
  place: ReviewPlace,
  text: string,
  choices: readonly FaceChoice[],
  signal: AbortSignal,
): Promise<ReviewAnswer> {
  let isLate = false;
  const limited = limitedSignal(signal, place.clock, ANSWER_WITHIN_MS, () => {
    isLate = true;
  });
  const question = { kind: 'choice', text, choices, preset: null } as const;
  const answer = await place.ask(question, limited.signal).finally(() => limited.end());
  if (answer === null && isLate) {
    const reason = 'nobody answered for 10 minutes';
    place.line(`Counted as a no: ${reason}.`, 'warning');
    return { approved: false, reason };
  }
  if (answer === null) {
    const reason = signal.aborted ? 'nobody answered' : 'the person closed the question';
    return { approved: false, reason };
  }
  return answered(answer);
}

function answered({ value, text }: Answer): ReviewAnswer {
  const no = (reason: string): Approval => ({ approved: false, reason });
  switch (value) {
    case 'y':
      return { approved: true };
    case 'a':
      return 'all';
    case 'd':
      return 'diff';
    case 't':
      return no(`the person said no${text.trim() === '' ? '' : `: ${text.trim()}`}`);
    default:
      return no('the person said no');
  }
}

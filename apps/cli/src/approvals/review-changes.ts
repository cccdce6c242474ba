import type { ChangeProposal, ChangeReviewer } from '@orion/agent';

import type { Approval } from '../terminal/answers.ts';
import { diffLine, diffLines } from '../terminal/diff-text.ts';
import { asSentence, formatCount, plural } from '../terminal/format.ts';
import type { LineKind } from '../terminal/tone.ts';
import { foldDiff, type FoldedDiff } from './fold-diff.ts';

/** Where a person sees what is about to change, and is asked. */
export type ReviewScreen = {
  line(text: string, tone: LineKind): void;
  /**
   * Lines of a diff, which are never wrapped or decorated, and none of which is left out. Answers whether more of them
   * can follow; false: nobody reads them.
   */
  diff(lines: readonly DiffLine[], signal: AbortSignal): Promise<boolean>;
  ask(question: string, signal: AbortSignal): Promise<ReviewAnswer>;
};

export type DiffLine = { readonly text: string; readonly tone: LineKind };

/** `all`: this change and what else the turn writes; `diff`: first all lines are to be shown. */
export type ReviewAnswer = Approval | 'all' | 'diff';

const OTHER_NAMES =
  'It has other names (hard links): under those it keeps its text, and is no longer the same file.';

/** Lines of a whole diff that are handed on at once. */
const BATCH_LINES = 200;

/**
 * Shows a person what is about to change and asks, in the order of B18. No yes is taken before all of it was shown.
 * `all` covers what else the turn writes, which its signal identifies, but no protected path (R255). What was shown
 * itself is asked about again when its bytes are not those any more.
 */
export function changeReviewer(screen: ReviewScreen): ChangeReviewer {
  let all: { readonly turn: AbortSignal; readonly id: string } | null = null;
  return async ({ id, intent, changes }, signal) => {
    const headlines = changes.map((change, index) => headline(change, index, changes.length));
    const showHeadlines = (): void => {
      for (const line of headlines) screen.line(diffLine(line), 'warning');
    };
    const isCovered = all?.turn === signal && all.id !== id;
    if (isCovered && !changes.some((change) => change.protected)) {
      showHeadlines();
      return { approved: true };
    }
    const about = `${plural(changes.length, 'file')} about to change: ${diffLine(intent)}`;
    screen.line(about, 'warning');
    const folded: FoldedDiff[] = [];
    for (const [index, change] of changes.entries()) {
      screen.line(diffLine(headlines[index] ?? ''), 'warning');
      if (change.hard_link) screen.line(OTHER_NAMES, 'warning');
      const diff = await foldDiff(diffLines(change.diff(), change.crlf));
      await showFolded(screen, diff, change, signal);
      folded.push(diff);
    }
    const question = questionAbout(changes, folded);
    let leftOut = folded.reduce((sum, diff) => sum + diff.leftOut, 0);
    for (;;) {
      // The diff may have pushed them off the screen.
      if (changes.length > 1) showHeadlines();
      const answer = await screen.ask(question, signal);
      if (leftOut > 0 && (answer === 'all' || (answer !== 'diff' && answer.approved))) {
        screen.line(
          `Your yes does not count yet: ${plural(leftOut, 'line')} left out above. Press d to see all of them.`,
          'warning',
        );
        continue;
      }
      if (answer === 'all') {
        all = { turn: signal, id };
        return { approved: true, forTurn: true };
      }
      if (answer !== 'diff') {
        return answer.approved ? answer : { approved: false, reason: asSentence(answer.reason) };
      }
      if (await showAll(screen, changes, signal)) leftOut = 0;
    }
  };
}

function headline(
  { real_path, operation, before, after }: ChangeProposal,
  index: number,
  count: number,
): string {
  const place = count === 1 ? '' : `${index + 1} of ${count}: `;
  const size =
    before === null
      ? plural(after.bytes, 'byte')
      : `${formatCount(before.bytes)} → ${plural(after.bytes, 'byte')}`;
  return `${place}${operation} ${real_path}: ${size}; sha256 ${after.sha256.slice(0, 12)}`;
}

/** Names path and size again. */
function questionAbout(changes: readonly ChangeProposal[], folded: readonly FoldedDiff[]): string {
  const [change] = changes;
  if (change === undefined || changes.length > 1) return `Write these ${changes.length} changes?`;
  const { added = 0, removed = 0 } = folded[0] ?? {};
  const counts = `+${formatCount(added)} −${formatCount(removed)}`;
  return diffLine(`Write ${change.real_path} (${counts}, ${plural(change.after.bytes, 'byte')})?`);
}

async function showFolded(
  screen: ReviewScreen,
  diff: FoldedDiff,
  { crlf }: ChangeProposal,
  signal: AbortSignal,
): Promise<void> {
  await screen.diff(diff.head.map(toned), signal);
  if (diff.leftOut > 0) {
    screen.line(`… ${plural(diff.leftOut, 'line')} left out: d shows all of them`, 'warning');
    await screen.diff(diff.tail.map(toned), signal);
  }
  if (diff.head.length === (crlf ? 1 : 0)) screen.line('No byte of it changes.', 'notice');
}

/** Answers whether it did: nothing more is shown once nobody reads. */
async function showAll(
  screen: ReviewScreen,
  changes: readonly ChangeProposal[],
  signal: AbortSignal,
): Promise<boolean> {
  for (const change of changes) {
    let lines: DiffLine[] = [];
    for await (const line of diffLines(change.diff(), change.crlf)) {
      lines.push(toned(line));
      if (lines.length < BATCH_LINES) continue;
      if (!(await screen.diff(lines, signal))) return false;
      lines = [];
    }
    if (!(await screen.diff(lines, signal))) return false;
  }
  return true;
}

/** In the colours of a diff. */
export function toned(text: string): DiffLine {
  if (text.startsWith('+')) return { text, tone: 'success' };
  if (text.startsWith('-')) return { text, tone: 'error' };
  return { text, tone: text.startsWith('@@') ? 'faint' : 'notice' };
}

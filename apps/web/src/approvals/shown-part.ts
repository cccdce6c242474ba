import type { ApprovalAnswer } from '@orion/contracts';

/** How much is on the screen of what a yes would allow. A command and a call always are, whole. */
export function shownPart({
  action,
  diffs,
}: Pick<ApprovalAnswer, 'action' | 'diffs'>): 'whole' | 'beginning' | 'nothing' {
  if (action.kind !== 'write') return 'whole';
  const shown = action.changes.map((_, index) => diffs[index] ?? { diff: null, cut: false });
  if (shown.some(({ diff }) => diff === null)) return 'nothing';
  return shown.some(({ cut }) => cut) ? 'beginning' : 'whole';
}

import type { Waiting } from './controller.ts';
import type { Face } from './face.ts';

/** Gives the person what waited for a turn that they stopped. `waiting`: the oldest first. */
export function handBack(
  waiting: readonly Waiting[],
  { face, isPlain }: { readonly face: Face; readonly isPlain: boolean },
): void {
  const line = (text: string): void => face.print({ kind: 'line', text, tone: 'warning' });
  const prompts: string[] = [];
  for (const { input } of waiting) {
    if (input.kind === 'prompt') prompts.push(input.typed);
    else line(`Not run, as you stopped: ${input.typed}`);
  }
  if (prompts.length === 0) return;
  if (isPlain) {
    // There the terminal edits what is typed, and nothing can be put there.
    line('Not sent, because you stopped the turn. Type or paste it again to send it:');
    for (const text of prompts) face.print({ kind: 'prompt', text, attached: [] });
    return;
  }
  line('Not sent, because you stopped the turn. It is back in the draft; press Enter to send it.');
  face.setDraft([...prompts, face.draft()].filter((text) => text !== '').join('\n\n'));
}

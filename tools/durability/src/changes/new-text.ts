import type { CommitPart } from '@orion/contracts';

/** What a change adds, in one piece. */
export function newText(text: string): CommitPart {
  return {
    kind: 'new',
    source: async function* source() {
      yield Buffer.from(text);
    },
  };
}

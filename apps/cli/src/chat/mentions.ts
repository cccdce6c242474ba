import { bestPaths, indexPaths, mentionAt, mentionOf, type PathIndex } from '@orion/contracts';

import type { Completer, Completion } from './face.ts';

/** As many as a person looks through. */
const SHOWN = 20;

/**
 * Completes the path after an `@`. The files are listed when the first name is begun; when another one is begun they are
 * listed again, and until that is done the earlier list answers. Where they cannot be listed, nothing is offered.
 */
export function createMentionCompleter(listFiles: () => Promise<readonly string[]>): Completer {
  let known: PathIndex | null = null;
  let listing: Promise<PathIndex> | null = null;
  /** Where the name begins that is being completed. */
  let begun: number | null = null;

  function list(): Promise<PathIndex> {
    listing ??= listFiles()
      .then((files) => (known = indexPaths(files)))
      .catch(() => known ?? indexPaths([]))
      .finally(() => {
        listing = null;
      });
    return listing;
  }

  return async (draft, caret, signal): Promise<Completion | null> => {
    const mention = mentionAt(draft, caret);
    if (mention === null) {
      begun = null;
      return null;
    }
    const { from, query } = mention;
    const fresh = known === null || from !== begun ? list() : null;
    begun = from;
    const index = known ?? (await fresh);
    if (index === null || signal.aborted) return null;
    const items = bestPaths(index, query, SHOWN).map((path) => ({
      value: mentionOf(path),
      label: path,
      detail: path.endsWith('/') ? 'folder' : '',
    }));
    return items.length === 0 ? null : { from, items };
  };
}

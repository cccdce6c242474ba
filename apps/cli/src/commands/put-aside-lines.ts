import type { CleanReport } from '@orion/contracts';

import { withPlace } from '../rendering/write-lines.ts';
import { plural } from '../terminal/format.ts';

/** Most sessions that are named when they are put aside. */
const NAMED_SESSIONS = 3;

/** What became of old sessions that were not recovered. */
export function putAsideLines({ moved }: CleanReport, place: string): readonly string[] {
  const named = moved.slice(0, NAMED_SESSIONS).map(({ session_id: id, target_file: target }) => {
    const command = withPlace(`orion recover-session ${id}`, place);
    return `Put aside for 30 days: ${target ?? id}; \`${command}\` still finds what was saved.`;
  });
  const more = moved.length - named.length;
  return more === 0
    ? named
    : [...named, `Put aside, too: ${plural(more, 'more interrupted write session')}.`];
}

/** Which statements of a server lose their answers: those that take, acquire, continue and finish a turn. */
import type { Random } from '@orion/common';

import type { Choose } from '../served-turns/cutting-proxy.ts';

/** How many of each have to be cut. */
export const LEAST_CUTS = { append: 20, fetch: 5, acquire: 20, finish: 20 } as const;
type Cut = keyof typeof LEAST_CUTS;

const SHARES: Readonly<Record<Cut, number>> = {
  append: 0.05,
  fetch: 0.5,
  acquire: 0.4,
  finish: 0.5,
};

/** One for each connection. */
export function cutStatements(random: Random): () => Choose {
  return () => {
    let isInside = false;
    let ends = false;
    const kindOf = (sent: string): Cut | null => {
      if (sent.startsWith('Q') && /^Q[^]{4}begin/u.test(sent)) [isInside, ends] = [true, false];
      else if (/^Q[^]{4}(?:commit|rollback)/u.test(sent)) {
        isInside = false;
        return ends && sent.includes('commit') ? 'finish' : null;
      }
      // Of one turn; it says so only where the turn ends.
      if (isInside) ends ||= sent.includes('finished_at = case');
      else if (sent.includes('insert into turn_event')) return 'append';
      else if (sent.includes('insert into turn (')) return 'acquire';
      else if (sent.includes('retry_count = CASE WHEN started_on')) return 'fetch';
      return null;
    };
    return (sent) => {
      const kind = kindOf(sent);
      return kind !== null && random.next() < SHARES[kind] ? kind : null;
    };
  };
}

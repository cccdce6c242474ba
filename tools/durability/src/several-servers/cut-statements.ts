/** Which statements of a server lose their answers: those that take, acquire, continue and finish a turn or its file. */
import type { Random } from '@orion/common';

import type { Choose } from '../served-turns/cutting-proxy.ts';

type Cut = 'append' | 'fetch' | 'acquire' | 'finish';
/** Of sessions in a database. */
type SessionCut = 'session_begin' | 'session_append' | 'session_commit' | 'session_remove';

const SHARES: Readonly<Record<Cut | SessionCut, number>> = {
  append: 0.05,
  fetch: 0.5,
  acquire: 0.4,
  finish: 0.5,
  session_begin: 0.4,
  session_append: 0.1,
  session_commit: 0.4,
  session_remove: 0.4,
};

const LEAST: Readonly<Record<Cut, number>> = { append: 20, fetch: 5, acquire: 20, finish: 20 };
const LEAST_OF_SESSIONS: Readonly<Record<SessionCut, number>> = {
  session_begin: 10,
  session_append: 20,
  session_commit: 10,
  session_remove: 10,
};

/** How many of each have to be cut. */
export function leastCuts(sessions: 'directory' | 'database'): Readonly<Record<string, number>> {
  return sessions === 'database' ? { ...LEAST, ...LEAST_OF_SESSIONS } : LEAST;
}

/** Whether answers are cut at the moment. */
export type Cutting = { isOn: boolean };

/** One for each connection. */
export function cutStatements(random: Random, cutting: Readonly<Cutting>): () => Choose {
  return () => {
    let isInside = false;
    let ends: Cut | SessionCut | null = null;
    const kindOf = (sent: string): Cut | SessionCut | null => {
      if (sent.startsWith('Q') && /^Q[^]{4}begin/u.test(sent)) [isInside, ends] = [true, null];
      else if (/^Q[^]{4}(?:commit|rollback)/u.test(sent)) {
        isInside = false;
        return sent.includes('commit') ? ends : null;
      }
      if (isInside) ends ??= transactionOf(sent);
      else return statementOf(sent);
      return null;
    };
    return (sent) => {
      const kind = kindOf(sent);
      return kind !== null && cutting.isOn && random.next() < SHARES[kind] ? kind : null;
    };
  };
}

/** The one that a statement is part of. */
function transactionOf(sent: string): Cut | SessionCut | null {
  // Of one turn; it says so only where the turn ends.
  if (sent.includes('finished_at = case')) return 'finish';
  if (sent.includes('insert into file_commit')) return 'session_commit';
  if (sent.includes('delete from write_session where session_id')) return 'session_remove';
  return null;
}

function statementOf(sent: string): Cut | SessionCut | null {
  if (sent.includes('insert into turn_event')) return 'append';
  if (sent.includes('update turn set epoch = (turn.epoch / ')) return 'acquire';
  if (sent.includes('retry_count = CASE WHEN started_on')) return 'fetch';
  if (sent.includes('insert into write_session')) return 'session_begin';
  if (sent.includes('insert into session_piece')) return 'session_append';
  return null;
}

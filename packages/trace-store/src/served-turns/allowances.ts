import type { NewTurn, SubmitOutcome } from '@orion/contracts';
import { databaseNow } from '../engine/sql-database.ts';
import type { SqlRunner } from '../engine/sql-database.ts';
import { holdName } from './hold-name.ts';

const DAY_MS = 86_400_000;
/** More submissions of one project than this are not under way at once. */
const UNDER_WAY = 256;

type Exceeded = Extract<SubmitOutcome, { kind: 'full' | 'spent' }>;

/** What the project of a new turn has used up; null if it may have another one. The rows of all processes count. */
export async function exceededBy(
  inside: SqlRunner,
  { projectId, allowance }: NewTurn,
): Promise<Exceeded | null> {
  if (allowance === undefined) return null;
  const { queued, tokensPerDay } = allowance;
  const spent = tokensPerDay === null ? null : await spentToday(inside, projectId);
  if (spent !== null && tokensPerDay !== null && spent.tokens >= tokensPerDay)
    return { kind: 'spent', dayEndsInMs: spent.dayEndsInMs };
  let waiting = await countWaiting(inside, projectId);
  if (waiting < queued && waiting >= queued - UNDER_WAY) {
    // Those that are stored at the same time are not seen: near the limit one comes after the other.
    await holdName(inside, `waiting of ${projectId}`);
    waiting = await countWaiting(inside, projectId);
  }
  return waiting < queued ? null : { kind: 'full' };
}

async function countWaiting(inside: SqlRunner, projectId: string): Promise<number> {
  const [row] = await inside.all(
    `select count(*) as turns from turn
     where project_id = $1 and state = 0 and finished_at is null`,
    [projectId],
  );
  return Number(row?.['turns']);
}

async function spentToday(
  inside: SqlRunner,
  projectId: string,
): Promise<{ readonly tokens: number; readonly dayEndsInMs: number }> {
  const now = databaseNow(inside.dialect);
  const [row] = await inside.all(
    `select coalesce(sum(tokens), 0) as tokens, ${DAY_MS} - ${now} % ${DAY_MS} as rest from turn
     where project_id = $1 and finished_at >= ${now} - ${now} % ${DAY_MS} and tokens > 0`,
    [projectId],
  );
  return { tokens: Number(row?.['tokens']), dayEndsInMs: Number(row?.['rest']) };
}

import type { ErrorInfo } from '@orion/contracts';

import type { AnswerHeaders } from './stream/post-json.ts';

/** How a request is repeated whose answer has not begun. */
export type RetryPolicy = {
  /** How often after the first time. */
  readonly retries: number;
  /** Before the first repetition; doubled for each further one. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  /** A server that asks for more time than this gets this much. */
  readonly longestRetryAfterMs: number;
};

export const DEFAULT_RETRY: RetryPolicy = {
  retries: 3,
  firstWaitMs: 500,
  longestWaitMs: 8000,
  longestRetryAfterMs: 60_000,
};

/**
 * Whether the same request may be sent again. A server to which no connection can be made is reported at once:
 * its address is more often wrong than its network.
 */
export function isWorthRetrying(error: ErrorInfo): boolean {
  return error.retryable && error.code !== 'PROVIDER_UNREACHABLE';
}

/**
 * How long to wait before repetition `attempt` (from 0), in milliseconds. What the server asks for is the least;
 * without it the wait grows exponentially, and half of it is chance, so that clients that failed together do not
 * come back together.
 */
export function retryWait(
  policy: RetryPolicy,
  attempt: number,
  retryAfterMs: number | undefined,
  random: () => number,
): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, policy.longestRetryAfterMs);
  const longest = Math.min(policy.firstWaitMs * 2 ** attempt, policy.longestWaitMs);
  return longest / 2 + (longest / 2) * random();
}

/** What a server asks for in its headers: milliseconds, seconds or a date. */
export function readRetryAfter(headers: AnswerHeaders, now: number): number | undefined {
  const milliseconds = Number(headers('retry-after-ms') ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return milliseconds;
  const text = headers('retry-after')?.trim();
  if (text === undefined || text === '') return undefined;
  const seconds = Number(text);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

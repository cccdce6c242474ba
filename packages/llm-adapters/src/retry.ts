import type { ErrorCode, ErrorInfo } from '@orion/contracts';

import type { AnswerHeaders } from './stream/post-json.ts';

/** When and how often a request is sent again if its answer has not begun. */
export type RetryPolicy = {
  /** Attempts after the first one. */
  readonly retries: number;
  /** Before the first retry; doubled for each further one. */
  readonly firstWaitMs: number;
  readonly longestWaitMs: number;
  /** The limit of what a server may ask for. */
  readonly longestRetryAfterMs: number;
};

/** A request is sent again after this wait, since it failed with this code. */
export type UpcomingRetry = { readonly waitMs: number; readonly code: ErrorCode };

export const DEFAULT_RETRY: RetryPolicy = {
  retries: 3,
  firstWaitMs: 500,
  longestWaitMs: 8000,
  longestRetryAfterMs: 60_000,
};

/**
 * Whether to send the same request again. An unreachable server is reported at once: a wrong address is more likely
 * than a network failure.
 */
export function isWorthRetrying(error: ErrorInfo): boolean {
  return error.retryable && error.code !== 'PROVIDER_UNREACHABLE';
}

/**
 * The wait before retry `attempt` (from 0), in milliseconds. It is what the server asks for; otherwise it grows
 * exponentially, and half of it is random, so that clients that failed together do not retry together.
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

/** The wait that a server asks for in its headers, as milliseconds, seconds or a date; in milliseconds. */
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

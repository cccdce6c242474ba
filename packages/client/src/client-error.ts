import type { ErrorCode, HttpErrorBody } from '@orion/contracts';

/**
 * `UNREACHABLE`: no answer came, or it broke off. `UNEXPECTED_ANSWER`: what answered is not the server, such as a proxy
 * with a page of its own.
 */
export type ClientErrorCode = ErrorCode | 'UNREACHABLE' | 'UNEXPECTED_ANSWER';

export type ClientErrorFacts = {
  readonly code: ClientErrorCode;
  readonly message: string;
  readonly status: number;
  readonly hint?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly retryAfterMs?: number | null;
  readonly cause?: unknown;
};

/** Every error of a call, but for an abort by the caller, which rejects with the reason of its signal. */
export class OrionClientError extends Error {
  override readonly name = 'OrionClientError';
  readonly code: ClientErrorCode;
  /** Of the answer; 0 without one. */
  readonly status: number;
  /** The next step; null if there is none to say. */
  readonly hint: string | null;
  /** What a program needs to correct its request. */
  readonly details: Readonly<Record<string, unknown>>;
  /** How long the server wants to be left alone; null if it did not say so. */
  readonly retryAfterMs: number | null;

  constructor({ code, message, status, hint, details, retryAfterMs, cause }: ClientErrorFacts) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.hint = hint ?? null;
    this.details = details ?? {};
    this.retryAfterMs = retryAfterMs ?? null;
  }

  /** Whether the same request may succeed later. */
  get isPassing(): boolean {
    if (this.code === 'UNREACHABLE' || PASSING.has(this.status)) return true;
    // Tunnels and proxies have statuses of their own for a server that is away, such as 530.
    return this.code === 'UNEXPECTED_ANSWER' && this.status >= 500;
  }
}

const PASSING: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);
/** A server that wants to be left alone for longer is not asked again: nobody may want the answer by then. */
const LONGEST_WAIT_MS = 30_000;

/** Whether a call waits and sends its request again. */
export function isRepeated({ isPassing, retryAfterMs }: OrionClientError): boolean {
  return isPassing && (retryAfterMs ?? 0) <= LONGEST_WAIT_MS;
}

/** The error that an answer describes. */
export async function errorOf(answer: Response): Promise<OrionClientError> {
  const { status } = answer;
  const text = await answer.text().catch(() => '');
  // A date would need a clock that both have in common.
  const [seconds = null] = /^\d+$/u.exec(answer.headers.get('retry-after') ?? '') ?? [];
  const retryAfterMs = seconds === null ? null : Number(seconds) * 1000;
  const error = describedIn(text);
  if (error === null) {
    return unexpected(status, retryAfterMs);
  }
  return new OrionClientError({ ...error, status, retryAfterMs });
}

/** What came is not what the server says. */
export function unexpected(status: number, retryAfterMs: number | null = null): OrionClientError {
  const message = `The answer (status ${status}) is not one of Orion's server.`;
  return new OrionClientError({ code: 'UNEXPECTED_ANSWER', message, status, retryAfterMs });
}

export function unreachable(cause: unknown): OrionClientError {
  return new OrionClientError({
    code: 'UNREACHABLE',
    message: 'The server did not answer, or its answer broke off.',
    status: 0,
    hint: 'Look whether it runs, and whether the address is right.',
    cause,
  });
}

function describedIn(text: string): HttpErrorBody['error'] | null {
  try {
    const { error } = JSON.parse(text) as Partial<HttpErrorBody>;
    const isError = typeof error?.code === 'string' && typeof error.message === 'string';
    return isError ? error : null;
  } catch {
    return null;
  }
}

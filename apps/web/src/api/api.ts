import { systemClock } from '@orion/contracts';
import type { HttpErrorBody } from '@orion/contracts';

import { BASE_PATH } from './base-path.ts';

/** A question that has no answer after so long has none: the connection may be open and dead. */
const ANSWER_MS = 15_000;

/** What the server answered instead, or that it did not (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly hint: string | null;

  constructor(status: number, code: string, message: string, hint: string | null) {
    super(message);
    this.status = status;
    this.code = code;
    this.hint = hint;
  }
}

export type Call = {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The same request again with the same key has no further effect. */
  readonly key?: string;
  readonly signal?: AbortSignal;
};

/** The routes of the server. Rejects with an ApiError, or with the reason of the signal. */
export type Api = {
  /** Null where the answer has no content. */
  call<Answer>(path: string, call?: Call): Promise<Answer>;
  /** A range of bytes; fewer where there are not so many. */
  bytes(path: string, from: number, to: number, signal?: AbortSignal): Promise<Uint8Array>;
  /** A whole answer, such as a file to keep. */
  blob(path: string): Promise<Blob>;
};

/** `refused` learns of an answer that the credentials are not valid any more. */
export function createApi(token: string, refused: () => void): Api {
  async function send(path: string, call: Call, headers: HeadersInit = {}): Promise<Response> {
    const { method = 'GET', body, key, signal = new AbortController().signal } = call;
    // What changes something may take long, and is not given up without a word of how it ended.
    const late = new AbortController();
    const giveUp = (): void => late.abort();
    const cancel = method === 'GET' ? systemClock.schedule(ANSWER_MS, giveUp) : null;
    let answer: Response;
    try {
      answer = await fetch(`${BASE_PATH}${path}`, {
        method,
        signal: AbortSignal.any([signal, late.signal]),
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
          ...(key === undefined ? {} : { 'idempotency-key': key }),
          ...headers,
        },
        ...(method === 'POST' ? { body: JSON.stringify(body ?? {}) } : {}),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw unreachable(error);
    } finally {
      cancel?.();
    }
    if (answer.ok) return answer;
    if (answer.status === 401) refused();
    throw await problemOf(answer);
  }
  return {
    async call<Answer>(path: string, call: Call = {}): Promise<Answer> {
      const answer = await send(path, call);
      if (answer.status === 204) return null as Answer;
      try {
        return (await answer.json()) as Answer;
      } catch (error) {
        call.signal?.throwIfAborted();
        throw unreachable(error);
      }
    },
    async bytes(path, from, to, signal) {
      const call = signal === undefined ? {} : { signal };
      const answer = await send(path, call, { accept: '*/*', range: `bytes=${from}-${to - 1}` });
      return new Uint8Array(await answer.arrayBuffer());
    },
    async blob(path) {
      return (await send(path, {}, { accept: '*/*' })).blob();
    },
  };
}

function unreachable(cause: unknown): ApiError {
  const error = new ApiError(
    0,
    'SERVER_UNREACHABLE',
    'The server does not answer.',
    'Start it with: orion serve',
  );
  error.cause = cause;
  return error;
}

export async function problemOf(answer: Response): Promise<ApiError> {
  const body = (await answer.json().catch(() => null)) as Partial<HttpErrorBody> | null;
  const {
    code = `HTTP_${answer.status}`,
    message = 'The server refused this.',
    hint,
  } = body?.error ?? {};
  return new ApiError(answer.status, code, message, hint ?? null);
}

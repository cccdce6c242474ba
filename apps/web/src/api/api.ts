import { systemClock } from '@orion/contracts';
import type { HttpErrorBody } from '@orion/contracts';

import { BASE_PATH } from './base-path.ts';

/** An answer of which nothing has come for so long does not come: the connection may be open and dead. */
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

export type ApiOptions = {
  readonly token: string;
  /** Learns of an answer that the credentials are not valid any more. */
  readonly refused: () => void;
  readonly fetch: typeof fetch;
};

export function createApi({ token, refused, fetch }: ApiOptions): Api {
  async function send(path: string, call: Call, headers: HeadersInit = {}): Promise<Answered> {
    const { method = 'GET', body, key, signal = new AbortController().signal } = call;
    const late = new AbortController();
    let cancel = (): void => undefined;
    const heard = (): void => {
      cancel();
      // What changes something may take long, and is not given up without a word of how it ended.
      if (method === 'GET') cancel = systemClock.schedule(ANSWER_MS, () => late.abort());
    };
    let answer: Response;
    let content: Blob;
    try {
      heard();
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
      content = await contentOf(answer, heard);
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof ApiError ? error : unreachable(error);
    } finally {
      cancel();
    }
    const { ok, status } = answer;
    if (ok) return { status, content };
    const problem = problemOf(status, await content.text());
    // A tunnel or proxy with a log-in of its own says nothing of this one.
    if (status === 401 && problem.code !== FOREIGN) refused();
    throw problem;
  }
  return {
    async call<Answer>(path: string, call: Call = {}): Promise<Answer> {
      const { status, content } = await send(path, call);
      if (status === 204) return null as Answer;
      const text = await content.text();
      try {
        return JSON.parse(text) as Answer;
      } catch (error) {
        throw unreachable(error);
      }
    },
    async bytes(path, from, to, signal) {
      const call = signal === undefined ? {} : { signal };
      const headers = { accept: '*/*', range: `bytes=${from}-${to - 1}` };
      const { content } = await send(path, call, headers);
      return new Uint8Array(await content.arrayBuffer());
    },
    async blob(path) {
      return (await send(path, {}, { accept: '*/*' })).content;
    },
  };
}

type Answered = { readonly status: number; readonly content: Blob };

/** All of an answer; `heard` is called whenever some of it arrives. */
async function contentOf(answer: Response, heard: () => void): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = answer.body?.getReader();
  for (;;) {
    heard();
    const { done = true, value } = (await reader?.read()) ?? {};
    if (value !== undefined) chunks.push(value);
    if (done) return new Blob(chunks, { type: answer.headers.get('content-type') ?? '' });
  }
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

/** The code of an answer that is not one of the server, such as that of a proxy while the server is away. */
export const FOREIGN = 'UNEXPECTED_ANSWER';

/** What the text of an answer says that is an error. */
export function problemOf(status: number, text: string): ApiError {
  let error: Partial<HttpErrorBody['error']> | undefined;
  try {
    ({ error } = JSON.parse(text) as Partial<HttpErrorBody>);
  } catch {
    // Not an answer of the server itself.
  }
  const foreign = `The answer (status ${status}) is not one of Orion's server.`;
  const { code = FOREIGN, message = foreign, hint } = error ?? {};
  return new ApiError(status, code, message, hint ?? null);
}

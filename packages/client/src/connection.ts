import { sleep, systemClock } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { errorOf, OrionClientError, unexpected, unreachable } from './client-error.ts';
import { createHeldSession } from './held-session.ts';
import { pauseBefore } from './pause.ts';

export type ClientOptions = {
  /** Where the server is, as in `http://127.0.0.1:4310`; a path in front of its own is kept. */
  readonly url: string;
  /** Sent with every request. */
  readonly token: string;
  /** Instead of the global one. */
  readonly fetch?: typeof fetch;
  /** How often a request is sent at most whose repetition changes nothing; 4 when left out. */
  readonly attempts?: number;
  /** What pauses are measured by. */
  readonly clock?: Clock;
};

export type CallOptions = { readonly signal?: AbortSignal };

export type Call = CallOptions & {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** From the root of the server. */
  readonly path: string;
  /** A list becomes one parameter for each of its items. */
  readonly query?: Readonly<
    Record<string, string | number | boolean | readonly string[] | undefined>
  >;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>;
  /** Whether it may be sent again when its answer is lost. A GET always may. */
  readonly isRepeatable?: boolean;
};

/** Sends requests, and sends them again where that changes nothing. */
export class Connection {
  readonly clock: Clock;
  readonly #url: string;
  readonly #token: string;
  readonly #fetch: typeof fetch;
  readonly #attempts: number;

  constructor({ url, token, fetch: given, attempts = 4, clock = systemClock }: ClientOptions) {
    this.#url = url.replace(/\/+$/u, '');
    this.#token = token;
    // A browser's own has to be called as a function of its window.
    this.#fetch = given ?? ((input, init) => fetch(input, init));
    this.#attempts = attempts;
    this.clock = clock;
  }

  /** The JSON of an answer. Rejects with `OrionClientError`. */
  async json<Answer>(call: Call): Promise<Answer> {
    return this.#repeated(call, async () => {
      const answer = await this.open(call);
      try {
        return (await answer.json()) as Answer;
      } catch (error) {
        call.signal?.throwIfAborted();
        throw error instanceof SyntaxError ? unexpected(answer.status) : unreachable(error);
      }
    });
  }

  /** The bytes of an answer. */
  async bytes(call: Call): Promise<Uint8Array> {
    return this.#repeated(call, async () => {
      const answer = await this.open(call);
      try {
        return new Uint8Array(await answer.arrayBuffer());
      } catch (error) {
        call.signal?.throwIfAborted();
        throw unreachable(error);
      }
    });
  }

  /** One request; its answer is not an error. Rejects with `OrionClientError`, or the reason of the signal. */
  async open(call: Call): Promise<Response> {
    const { method = 'GET', path, query = {}, headers = {}, json, body, signal } = call;
    signal?.throwIfAborted();
    const asked = new URLSearchParams();
    for (const [name, value = []] of Object.entries(query)) {
      for (const each of Array.isArray(value) ? value : [value]) asked.append(name, String(each));
    }
    const text = asked.size === 0 ? '' : `?${asked.toString()}`;
    let answer: Response;
    try {
      answer = await this.#fetch(`${this.#url}${path}${text}`, {
        method,
        headers: {
          accept: 'application/json',
          authorization: `Bearer ${this.#token}`,
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
        ...(body === undefined ? {} : { body, duplex: 'half' }),
        // What the server keeps to itself is not to end at another one.
        redirect: 'error',
        signal: signal ?? null,
      } as RequestInit);
    } catch (error) {
      signal?.throwIfAborted();
      throw unreachable(error);
    }
    if (!answer.ok) throw await errorOf(answer);
    return answer;
  }

  async #repeated<Answer>(call: Call, send: () => Promise<Answer>): Promise<Answer> {
    const { method = 'GET', isRepeatable = method === 'GET', signal } = call;
    const isHeld = createHeldSession(this.clock);
    for (let attempt = 1, failures = 0; ; attempt += 1) {
      try {
        return await send();
      } catch (error) {
        if (!isRepeatable || !(error instanceof OrionClientError)) throw error;
        // An attempt without an answer may still be at work.
        if (attempt === 1 || !isHeld(error)) {
          failures += 1;
          if (!error.isPassing || failures >= this.#attempts) throw error;
        }
        const pause = pauseBefore(attempt, { leastMs: error.retryAfterMs });
        await sleep(this.clock, pause, ...(signal === undefined ? [] : [signal]));
        signal?.throwIfAborted();
      }
    }
  }
}

import { limitedSignal, sleep, systemClock } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { errorOf, isRepeated, OrionClientError, unexpected, unreachable } from './client-error.ts';
import { createHeldSession } from './held-session.ts';
import { pauseBefore } from './pause.ts';
import { Silence } from './silence.ts';

/** An answer of which nothing has come for so long does not come: the connection may be open and dead. */
export const ANSWER_MS = 15_000;
/** Where the server may be at work for long before it says anything. */
export const SLOW_ANSWER_MS = 300_000;

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
  /**
   * How long nothing may arrive of an answer before the attempt is given up; 15 s when left out. One that is not sent
   * again has no limit, since its caller has to know how it ended.
   */
  readonly silentMs?: number;
};

type Answered = { readonly status: number; readonly content: Uint8Array };

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
      const { status, content } = await this.#whole(call);
      try {
        return JSON.parse(new TextDecoder().decode(content)) as Answer;
      } catch {
        throw unexpected(status);
      }
    });
  }

  /** The bytes of an answer. */
  async bytes(call: Call): Promise<Uint8Array> {
    return this.#repeated(call, async () => (await this.#whole(call)).content);
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

  /** All of an answer. */
  async #whole(call: Call): Promise<Answered> {
    const { signal = new AbortController().signal, silentMs = ANSWER_MS } = call;
    const limit = limitedSignal(signal);
    const silence = new Silence({
      clock: this.clock,
      milliseconds: isRepeatable(call) ? silentMs : Number.POSITIVE_INFINITY,
      onSilent: limit.abort,
    });
    try {
      silence.restart();
      const answer = await this.open({ ...call, signal: limit.signal });
      return { status: answer.status, content: await contentOf(answer, silence) };
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof OrionClientError ? error : unreachable(error);
    } finally {
      silence.end();
      limit.end();
    }
  }

  async #repeated<Answer>(call: Call, send: () => Promise<Answer>): Promise<Answer> {
    const { signal } = call;
    const isHeld = createHeldSession(this.clock);
    for (let attempt = 1, failures = 0; ; attempt += 1) {
      try {
        return await send();
      } catch (error) {
        if (!isRepeatable(call) || !(error instanceof OrionClientError)) throw error;
        // An attempt without an answer may still be at work.
        if (attempt === 1 || !isHeld(error)) {
          failures += 1;
          if (!isRepeated(error) || failures >= this.#attempts) throw error;
        }
        const pause = pauseBefore(attempt, { leastMs: error.retryAfterMs });
        await sleep(this.clock, pause, ...(signal === undefined ? [] : [signal]));
        signal?.throwIfAborted();
      }
    }
  }
}

function isRepeatable({ method = 'GET', isRepeatable: given = method === 'GET' }: Call): boolean {
  return given;
}

async function contentOf(answer: Response, silence: Silence): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const reader = answer.body?.getReader();
  for (;;) {
    silence.heard();
    const { done = true, value } = (await reader?.read()) ?? {};
    if (value !== undefined) chunks.push(value);
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer());
  }
}

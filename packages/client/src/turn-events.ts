import { limitedSignal, sleep } from '@orion/contracts';
import type { TurnStreamEvent } from '@orion/contracts';
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';

import { isRepeated, OrionClientError, unreachable } from './client-error.ts';
import type { Connection } from './connection.ts';
import { pauseBefore } from './pause.ts';
import { Silence } from './silence.ts';

/** The server sends something every 5 s; a connection that was silent for so long is taken to be lost. */
const SILENT_MS = 15_000;
/** The most of one event. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;
const DEFAULT_ATTEMPTS = 30;

export type TurnEventsOptions = {
  /** Where to begin: behind this event (`lastEventId` of an earlier reading); left out, with the first one. */
  readonly after?: string;
  readonly signal?: AbortSignal;
  /** How many connections in a row may end without a new event; 30 when left out, which are about five minutes. */
  readonly attempts?: number;
  /** Called whenever bytes arrive, comments of the server included: the connection is alive. */
  readonly onAlive?: () => void;
};

/**
 * The events of one turn: each once and in order, over as many connections as it takes. Iterating ends after `done`;
 * leaving early, or an abort, closes the connection and changes nothing of the turn.
 *
 * A `reset` means that the log of the turn is not what was read: forget the turn, all its events follow. Rejects with
 * `OrionClientError`, or the reason of the signal. One reader at a time.
 */
export class TurnEvents implements AsyncIterable<TurnStreamEvent> {
  readonly turnId: string;
  readonly #connection: Connection;
  readonly #options: TurnEventsOptions;
  #lastEventId: string | null;

  constructor(connection: Connection, turnId: string, options: TurnEventsOptions = {}) {
    this.turnId = turnId;
    this.#connection = connection;
    this.#options = options;
    this.#lastEventId = options.after ?? null;
  }

  /** Where the reader is; keep it to resume in another process. Null before the first event. */
  get lastEventId(): string | null {
    return this.#lastEventId;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<TurnStreamEvent, void> {
    const { signal, attempts = DEFAULT_ATTEMPTS } = this.#options;
    const { clock } = this.#connection;
    const hints: ServerHints = { retryMs: undefined };
    for (let failures = 0; ;) {
      let failure: OrionClientError | null = null;
      try {
        for await (const event of this.#connect(hints)) {
          failures = 0;
          yield event;
          if (event.type === 'done') return;
        }
        if (hints.isOver) return;
      } catch (error) {
        signal?.throwIfAborted();
        if (!(error instanceof OrionClientError) || !isRepeated(error)) throw error;
        failure = error;
      }
      failures += 1;
      if (failures >= attempts) {
        throw failure ?? unreachable(new Error('The stream of events ended before the turn did.'));
      }
      const { retryMs: firstMs } = hints;
      const pause = pauseBefore(failures, {
        leastMs: failure?.retryAfterMs ?? null,
        ...(firstMs === undefined ? {} : { firstMs }),
      });
      await sleep(clock, pause, ...(signal === undefined ? [] : [signal]));
      signal?.throwIfAborted();
    }
  }

  /** What one connection brings. */
  async *#connect(hints: ServerHints): AsyncGenerator<TurnStreamEvent, void> {
    const { signal = new AbortController().signal, onAlive } = this.#options;
    const limit = limitedSignal(signal);
    const silence = new Silence({
      clock: this.#connection.clock,
      milliseconds: SILENT_MS,
      onSilent: () => limit.abort(),
      onBytes: onAlive,
    });
    try {
      silence.restart();
      const answer = await this.#connection.open({
        path: `/api/turns/${encodeURIComponent(this.turnId)}/events`,
        headers: {
          accept: 'text/event-stream',
          ...(this.#lastEventId === null ? {} : { 'last-event-id': this.#lastEventId }),
        },
        signal: limit.signal,
      });
      if (answer.status === 204) {
        hints.isOver = true;
        return;
      }
      for await (const message of messagesOf(answer, hints, silence)) {
        const event = JSON.parse(message.data) as TurnStreamEvent;
        if (message.id !== undefined) this.#lastEventId = message.id;
        else if (event.type === 'reset') this.#lastEventId = null;
        yield event;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OrionClientError) throw error;
      throw unreachable(error);
    } finally {
      silence.end();
      // Closes the connection of a reader that leaves.
      limit.abort();
      limit.end();
    }
  }
}

/** What the server says beside the events. */
type ServerHints = {
  /** How soon it wants to see the client again. */
  retryMs: number | undefined;
  /** It has nothing more. */
  isOver?: boolean;
};

async function* messagesOf(
  answer: Response,
  hints: ServerHints,
  silence: Silence,
): AsyncGenerator<EventSourceMessage, void> {
  const type = answer.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream') || answer.body === null) {
    throw new OrionClientError({
      code: 'UNEXPECTED_ANSWER',
      message: 'The answer is not a stream of events.',
      status: answer.status,
    });
  }
  let arrived: EventSourceMessage[] = [];
  const parser = createParser({
    onEvent: (message) => arrived.push(message),
    onRetry: (retry) => {
      hints.retryMs = retry;
    },
    maxBufferSize: MAX_EVENT_CHARACTERS,
  });
  const decoder = new TextDecoder();
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    silence.heard();
    parser.feed(decoder.decode(value, { stream: true }));
    const messages = arrived;
    arrived = [];
    yield* messages;
  }
}

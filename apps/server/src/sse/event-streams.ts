import type { ServerResponse } from 'node:http';

import { OrionError } from '@orion/contracts';
import type { Clock } from '@orion/contracts';

import { whenClosed } from '../answers/when-closed.ts';
import { COMMENT_FRAME, RETRY_FRAME } from './frames.ts';

/** A comment is sent so often, and a stream is looked at. */
const BEAT_MS = 5_000;
/** A reader that takes nothing for so long is left. */
const STALLED_MS = 30_000;
/** What is written at once of a frame: what a reader takes is seen when it has taken one piece. */
const PIECE_CHARACTERS = 16 * 1024;

const HEADERS = {
  'content-type': 'text/event-stream',
  // A proxy must pass on each event as it comes.
  'x-accel-buffering': 'no',
};

export type EventStreamsOptions = {
  readonly clock: Clock;
  /** The most that one client may have open, those that wait for an answer to a poll included. */
  readonly perClient: number;
  /** Called when a stream ends because its frames cannot be read any more. */
  readonly onFailure: (error: unknown) => void;
};

/** A place that a client has taken; `leave` may be called twice. */
export type Seat = { readonly leave: () => void };

/** What a stream sends, until `signal` is aborted: its client has gone, or it ends here. */
export type Frames = (signal: AbortSignal) => AsyncIterable<string>;

/**
 * The streams of server-sent events that are open in this process.
 *
 * 1. No more is read for a client than it takes: a frame is asked for when the ones before it fit into the buffer of its
 *    connection. Nothing is kept for it here but the frame that it is taking.
 * 2. A client that has gone, or has taken nothing of that buffer for 30 s, has no stream any more; one that takes a
 *    large frame slowly keeps its own.
 * 3. A stream changes nothing of what it shows: it may end at any time, and the client resumes.
 */
export class EventStreams {
  readonly #options: EventStreamsOptions;
  readonly #seats = new Map<string, number>();
  readonly #streams = new Map<ServerResponse, Promise<void>>();
  /** Those in the middle of a frame, where nothing else may stand. */
  readonly #unfinished = new Set<ServerResponse>();
  readonly #ended = new AbortController();
  #stalled = 0;

  constructor(options: EventStreamsOptions) {
    this.#options = options;
  }

  get open(): number {
    return this.#streams.size;
  }

  /** What waits in this process for its readers, in bytes. */
  get buffered(): number {
    let bytes = 0;
    for (const response of this.#streams.keys()) bytes += response.writableLength;
    return bytes;
  }

  /** Streams that ended because their readers did not read. */
  get stalled(): number {
    return this.#stalled;
  }

  /** Rejects with RATE_LIMITED a client that has too many. */
  admit(client: string): Seat {
    const { perClient } = this.#options;
    const taken = this.#seats.get(client) ?? 0;
    if (taken >= perClient) {
      throw new OrionError({
        code: 'RATE_LIMITED',
        message: `This client has ${perClient} streams open, which is the limit of this process.`,
        hint: 'Close a stream that is not read any more.',
      });
    }
    this.#seats.set(client, taken + 1);
    let isTaken = true;
    return {
      leave: () => {
        if (!isTaken) return;
        isTaken = false;
        const left = (this.#seats.get(client) ?? 1) - 1;
        if (left === 0) this.#seats.delete(client);
        else this.#seats.set(client, left);
      },
    };
  }

  /** Answers with a stream, and leaves the seat when it ends. */
  start(response: ServerResponse, seat: Seat, frames: Frames): void {
    const stream = this.#send(response, frames).finally(() => {
      seat.leave();
      this.#streams.delete(response);
    });
    this.#streams.set(response, stream);
  }

  /** For an answer that waits for events: aborted when its client has gone, and when the streams end. */
  wait(response: ServerResponse): AbortSignal {
    return AbortSignal.any([closedSignal(response), this.#ended.signal]);
  }

  /** Asks all clients to come back soon, but for those in the middle of a frame, and ends their streams and waits. */
  end(): void {
    for (const response of this.#streams.keys()) {
      response.end(this.#unfinished.has(response) ? undefined : RETRY_FRAME);
    }
    this.#ended.abort(GONE);
  }

  /** When none is open any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#streams.values());
  }

  /** Never rejects. */
  async #send(response: ServerResponse, frames: Frames): Promise<void> {
    const closed = closedSignal(response);
    if (closed.aborted) return;
    const { onProgress, stop } = this.#watch(response);
    response.writeHead(200, HEADERS);
    response.flushHeaders();
    try {
      for await (const frame of frames(closed)) {
        if (closed.aborted || response.writableEnded) return;
        for (let from = 0, to = 0; from < frame.length; from = to) {
          to = pieceEnd(frame, from);
          if (to < frame.length) this.#unfinished.add(response);
          else this.#unfinished.delete(response);
          const piece = frame.slice(from, to);
          if (!response.write(piece, onProgress)) await drained(response, closed);
          if (closed.aborted || response.writableEnded) return;
        }
      }
      response.end();
    } catch (error) {
      this.#options.onFailure(error);
      response.end();
    } finally {
      stop();
      this.#unfinished.delete(response);
    }
  }

  /** Sends comments, and ends a stream whose reader takes nothing. */
  #watch(response: ServerResponse): { readonly onProgress: () => void; readonly stop: () => void } {
    const { clock } = this.#options;
    let progressAt = clock.monotonic();
    const onProgress = (): void => {
      progressAt = clock.monotonic();
    };
    const beat = (): void => {
      if (response.writableEnded) return;
      if (response.writableLength === 0 && !this.#unfinished.has(response)) {
        response.write(COMMENT_FRAME, onProgress);
      } else if (clock.monotonic() - progressAt >= STALLED_MS) {
        this.#stalled += 1;
        response.destroy();
        return;
      }
      cancel = clock.schedule(BEAT_MS, beat);
    };
    let cancel = clock.schedule(BEAT_MS, beat);
    return { onProgress, stop: () => cancel() };
  }
}

/** One for all: the stack of its own that each would have takes longer than most else of a stream. */
const GONE = new DOMException('The client has gone', 'AbortError');

/** A character of two halves is written as one. */
function pieceEnd(frame: string, from: number): number {
  const to = from + PIECE_CHARACTERS;
  if (to >= frame.length) return frame.length;
  return /[\uD800-\uDBFF]/u.test(frame.charAt(to - 1)) ? to - 1 : to;
}

/** Aborted when the client has gone, also if that was before. */
function closedSignal(response: ServerResponse): AbortSignal {
  const closed = new AbortController();
  whenClosed(response, () => closed.abort(GONE));
  return closed.signal;
}

/** When the buffer of the connection is empty again, or its client has gone. */
function drained(response: ServerResponse, closed: AbortSignal): Promise<void> {
  if (closed.aborted || !response.writableNeedDrain) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      response.off('drain', end);
      closed.removeEventListener('abort', end);
      resolve();
    };
    response.on('drain', end);
    closed.addEventListener('abort', end);
  });
}

/** A client that reads the events of a turn over HTTP, and keeps its place from one server to the next. */
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';

export type ReadEvent = {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type ServerAddress = { readonly url: string; readonly token: string };

/** The server takes no new requests. */
export class Stopping extends Error {}

/** No server knows of the turn. */
export class UnknownTurn extends Error {}

/** A client's pause where the store of its server did not answer. */
export const AWAY_MS = 200;

/** A client leaves a server from which nothing comes for so long, not even the comments of a stream. */
const SILENT_MS = 7_500;

/** The store of the server did not answer: the same request may be sent again. */
export function isAway(status: number | undefined, body: unknown): boolean {
  const { error } = body as { readonly error?: { readonly code: string } };
  return status === 503 && error?.code === 'STORE_UNAVAILABLE';
}

/** A server that was killed or is stopping takes no connections. */
export function isRefused(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return error instanceof Stopping || ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code);
}

/**
 * Reads one turn, through as many connections as it takes.
 *
 * 1. What was read stays read: a connection begins behind the last event, and a reset forgets all of them.
 * 2. Nothing is corrected here. What a server sends twice or leaves out is seen in `events`.
 */
export class TurnReader {
  readonly #turnId: string;
  #events: ReadEvent[] = [];
  #resets = 0;

  constructor(turnId: string) {
    this.#turnId = turnId;
  }

  get turnId(): string {
    return this.#turnId;
  }

  get events(): readonly ReadEvent[] {
    return this.#events;
  }

  get resets(): number {
    return this.#resets;
  }

  get isDone(): boolean {
    return this.#events.at(-1)?.type === 'done';
  }

  /**
   * One connection, until it ends or breaks. `onEvent` may end it. Rejects if the server refuses.
   *
   * @param stallMs for how long nothing of what has come is taken
   */
  async read(
    { url, token }: ServerAddress,
    onEvent: () => 'more' | 'enough',
    stallMs = 0,
  ): Promise<void> {
    const last = this.#events.at(-1);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(last === undefined ? {} : { 'last-event-id': last.id }),
    };
    const response = await connect(`${url}/api/turns/${this.#turnId}/events`, headers);
    if (response.statusCode !== 200) {
      const body = JSON.parse(await text(response)) as unknown;
      // Whoever reads comes again.
      if (isAway(response.statusCode, body)) return wait(AWAY_MS);
      if (response.statusCode === 503) throw new Stopping();
      const said = `${response.statusCode} for ${this.#turnId}: ${JSON.stringify(body)}`;
      throw response.statusCode === 404 ? new UnknownTurn(said) : new Error(said);
    }
    if (stallMs > 0) {
      response.socket.setTimeout(0);
      await wait(stallMs);
      response.socket.setTimeout(SILENT_MS);
    }
    let rest = '';
    try {
      for await (const piece of response.setEncoding('utf8') as AsyncIterable<string>) {
        const frames = (rest + piece).split('\n\n');
        rest = frames.pop() ?? '';
        for (const frame of frames) {
          if (this.#take(frame) && onEvent() === 'enough') return;
        }
      }
    } catch (error) {
      // What a killed server leaves of its connections.
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    } finally {
      response.destroy();
    }
  }

  /** False for a comment. */
  #take(frame: string): boolean {
    const fields = new Map(
      frame
        .split('\n')
        .filter((line) => !line.startsWith(':'))
        .map((line) => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /u, '')];
        }),
    );
    const data = fields.get('data');
    if (data === undefined) return false;
    const type = fields.get('event') ?? 'message';
    if (type === 'reset') {
      this.#events = [];
      this.#resets += 1;
      return true;
    }
    const parsed = JSON.parse(data) as ReadEvent['data'];
    this.#events.push({ id: fields.get('id') ?? '', type, data: parsed });
    return true;
  }
}

function connect(url: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asked = get(url, { agent: false, headers, timeout: SILENT_MS }, resolve);
    asked.once('error', reject);
    asked.once('timeout', () => {
      asked.destroy(Object.assign(new Error('the server is silent'), { code: 'ECONNRESET' }));
    });
  });
}

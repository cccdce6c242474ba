import { isHighSurrogate } from '@orion/contracts';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';

import { createSizes } from '../random.ts';
import type { WireName } from '../requests/check.ts';
import type { Fault, Shape } from '../script.ts';
import { createChatWriter } from './chat-writer.ts';
import { createMessagesWriter } from './messages-writer.ts';
import { createResponsesWriter } from './responses-writer.ts';
import type { ReplyFacts, WireWriter } from './wire-writer.ts';

/** The reply before faults and shape are applied. */
export type PlannedReply = {
  readonly wire: WireName;
  readonly facts: ReplyFacts;
  readonly text: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
  }[];
  readonly finishReason: string;
  readonly shape: Shape;
  readonly fault: Fault | undefined;
};

/** Large enough that a write costs little per event, small enough to keep the reader's pace. */
const FLUSH_CHARACTERS = 64 * 1024;
const DEFAULT_CHUNK = 24;
const KEEP_ALIVE = ': keep-alive\n\n';
const COMMENT_EVERY = 100;
/** Timers are no more precise than this. Events that are due earlier are sent together. */
const SHORTEST_WAIT_MS = 2;

/**
 * Streams a reply as server-sent events. `onText` gets the number of characters of each text event. Once `hurry` is
 * aborted, nothing pauses or stalls.
 *
 * Hundreds of thousands of events must cost almost nothing: what they share is serialised once, and they are written in
 * large pieces at the reader's pace.
 */
export async function streamReply(
  response: ServerResponse,
  reply: PlannedReply,
  hurry: AbortSignal,
  onText: (characters: number) => void,
): Promise<void> {
  const { shape, fault, text } = reply;
  const out = new Output(response, shape, hurry);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  if (shape.firstDelayMs !== undefined && shape.firstDelayMs > 0) {
    response.flushHeaders();
    await pause(shape.firstDelayMs, hurry);
  }
  out.add(KEEP_ALIVE.repeat(shape.comments ?? 0));

  const writer = WRITERS[reply.wire](reply.facts);
  const before = charactersBefore(fault, text);
  if (before > 0 || fault?.kind !== 'error') out.add(writer.begin());
  if (before > 0) await sendReasoning(out, writer, shape);

  const wrapText = (piece: string): string => {
    onText(piece.length);
    return writer.text(piece);
  };
  const sentOfText = await out.send(text, wrapText, before);
  let left = before - sentOfText;
  let whole = sentOfText === text.length;
  for (const [index, call] of reply.calls.entries()) {
    if (!whole || (left === 0 && fault?.at !== undefined)) {
      whole = false;
      break;
    }
    out.add(writer.beginCall(index, call));
    const wrap = (piece: string): string => writer.callArguments(index, piece);
    const sent = await out.send(call.arguments, wrap, left);
    left -= sent;
    whole = sent === call.arguments.length;
  }
  if (response.closed) return;

  const struck = fault !== undefined && (fault.at === undefined || !whole || left === 0);
  if (struck && fault.kind === 'stall') {
    await out.flush();
    await stall(response, fault.forMs, hurry);
    if (response.closed) return;
    await out.send(text.slice(before), wrapText);
  }
  await endReply(response, out, writer, struck ? fault : undefined, reply.finishReason);
}

/** Resolves when the stall is over, or the reader is gone. */
async function stall(
  response: ServerResponse,
  milliseconds: number | undefined,
  hurry: AbortSignal,
): Promise<void> {
  if (milliseconds !== undefined) return pause(milliseconds, hurry);
  if (hurry.aborted || response.closed) return;
  await new Promise<void>((resolve) => {
    response.once('close', () => resolve());
    hurry.addEventListener('abort', () => resolve());
  });
}

function pause(milliseconds: number, hurry: AbortSignal): Promise<void> {
  return wait(milliseconds, undefined, { signal: hurry }).catch(() => undefined);
}

const WRITERS: Readonly<Record<WireName, (facts: ReplyFacts) => WireWriter>> = {
  chat: createChatWriter,
  responses: createResponsesWriter,
  messages: createMessagesWriter,
};

/** Always whole, even if a fault cuts the reply. */
async function sendReasoning(out: Output, writer: WireWriter, shape: Shape): Promise<void> {
  const { reasoning, reasoningField: field = 'reasoning_content' } = shape;
  if (reasoning === undefined) return;
  if (field === 'think')
    await out.send(`<think>${reasoning}</think>\n\n`, (piece) => writer.text(piece));
  else await out.send(reasoning, (piece) => writer.reasoning(piece, field));
}

async function endReply(
  response: ServerResponse,
  out: Output,
  writer: WireWriter,
  fault: Fault | undefined,
  finishReason: string,
): Promise<void> {
  switch (fault?.kind) {
    case 'disconnect':
    case 'reset':
      await out.flush();
      // First hand everything to the network.
      while (!response.closed && (response.socket?.writableLength ?? 0) > 0) await wait(1);
      if (fault.kind === 'reset') response.socket?.resetAndDestroy();
      else response.socket?.destroy();
      return;
    case 'end':
      break;
    case 'error': {
      const { message = 'The scripted provider failed.', type = 'server_error', code } = fault;
      out.add(writer.error({ message, type, code }, fault.afterFinish === true));
      break;
    }
    default:
      out.add(writer.end(fault?.kind === 'length' ? 'length' : finishReason));
  }
  await out.flush();
  response.end();
}

/** Sends texts as events, at the pace of the script and of the reader. */
class Output {
  readonly #response: ServerResponse;
  readonly #shape: Shape;
  readonly #hurry: AbortSignal;
  readonly #nextSize: () => number;
  readonly #nextCut: (() => number) | undefined;
  readonly #start = performance.now();
  #events = 0;
  #buffer = '';

  constructor(response: ServerResponse, shape: Shape, hurry: AbortSignal) {
    const { chunk = DEFAULT_CHUNK, bytes, seed = 1 } = shape;
    this.#response = response;
    this.#shape = shape;
    this.#hurry = hurry;
    this.#nextSize = createSizes(chunk, seed);
    this.#nextCut = bytes === undefined ? undefined : createSizes(bytes, seed + 1);
  }

  add(text: string): void {
    this.#buffer += text;
  }

  /** Sends a text up to `limit` characters, one event per piece. Returns how many characters that is. */
  async send(
    text: string,
    wrap: (piece: string) => string,
    limit: number = Number.POSITIVE_INFINITY,
  ): Promise<number> {
    const { splitSurrogates = false, comments = 0, eventsPerSecond = 0 } = this.#shape;
    const end = Math.min(text.length, limit);
    for (let position = 0; position < end && !this.#response.closed;) {
      let next = Math.min(position + this.#nextSize(), end);
      if (!splitSurrogates && next < text.length && isHighSurrogate(text.charCodeAt(next - 1)))
        next += 1;
      if (comments > 0 && this.#events % COMMENT_EVERY === 0) this.add(KEEP_ALIVE);
      this.add(wrap(text.slice(position, next)));
      this.#events += 1;
      position = next;
      const due =
        eventsPerSecond === 0 || this.#hurry.aborted
          ? 0
          : this.#start + (this.#events * 1000) / eventsPerSecond - performance.now();
      const isEarly = due >= SHORTEST_WAIT_MS;
      if (isEarly || this.#buffer.length >= FLUSH_CHARACTERS) await this.flush();
      if (isEarly) await pause(due, this.#hurry);
    }
    return end;
  }

  async flush(): Promise<void> {
    const text = this.#shape.crlf === true ? this.#buffer.replaceAll('\n', '\r\n') : this.#buffer;
    const bytes = Buffer.from(text);
    this.#buffer = '';
    for (let start = 0; start < bytes.length && !this.#response.closed;) {
      const end = start + (this.#nextCut?.() ?? bytes.length);
      await this.#write(bytes.subarray(start, end));
      // One turn of the event loop each, so that the pieces are sent as separate segments.
      if (this.#nextCut !== undefined) await nextTurn();
      start = end;
    }
  }

  /** Resolves when more may be written or the reader is gone. */
  async #write(bytes: Uint8Array): Promise<void> {
    const response = this.#response;
    if (response.write(bytes)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off('drain', done);
        response.off('close', done);
        resolve();
      };
      response.on('drain', done);
      response.on('close', done);
    });
  }
}

/** Without a place, these strike at the end, all others before the first character. */
const AT_THE_END: ReadonlySet<Fault['kind']> = new Set<Fault['kind']>(['length', 'end', 'stop']);

/** After how many characters of the reply the fault strikes. */
function charactersBefore(fault: Fault | undefined, text: string): number {
  const never = Number.POSITIVE_INFINITY;
  if (fault === undefined) return never;
  if (fault.at === undefined) return AT_THE_END.has(fault.kind) ? never : 0;
  const { characters = never, lines = 0 } = fault.at;
  if (fault.at.lines === undefined) return characters;
  let end = 0;
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf('\n', end) + 1;
    if (end === 0) return characters;
  }
  return Math.min(characters, end);
}

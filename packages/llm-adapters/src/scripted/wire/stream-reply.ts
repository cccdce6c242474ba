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

/** What is sent, before faults and shape are applied. */
export type PlannedReply = {
  readonly wire: WireName;
  readonly text: string;
  readonly calls: readonly {
    readonly id: string;
    readonly name: string;
    readonly arguments: string;
  }[];
  readonly finishReason: string;
  readonly model: string;
  readonly id: string;
  readonly promptTokens: number;
  /** Whether the request asked for a usage chunk. */
  readonly wantsUsage: boolean;
  readonly shape: Shape;
  readonly fault: Fault | undefined;
};

/** Large enough that a write costs little per event, small enough to keep the reader's pace. */
const FLUSH_CHARACTERS = 64 * 1024;
const DEFAULT_CHUNK = 24;
const KEEP_ALIVE = ': keep-alive\n\n';
const COMMENT_EVERY = 100;
/** Timers are not more precise than this; events that are due earlier are sent together. */
const SHORTEST_WAIT_MS = 2;

/**
 * Streams a reply as server-sent events. `onText` is told how much of its text has been sent.
 *
 * Hundreds of thousands of events must cost next to nothing: what is the same in all of them is serialised once,
 * and they are written in large pieces, at the reader's pace.
 */
export async function streamReply(
  response: ServerResponse,
  reply: PlannedReply,
  onText: (characters: number) => void,
): Promise<void> {
  const { shape, fault } = reply;
  const out = createOutput(response, shape);
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  });
  if (shape.firstDelayMs !== undefined && shape.firstDelayMs > 0) {
    response.flushHeaders();
    await wait(shape.firstDelayMs);
  }
  for (let count = 0; count < (shape.comments ?? 0); count += 1) out.add(KEEP_ALIVE);

  const writer = createWriter(reply);
  const pieces = new Pieces(out, shape);
  const before = charactersBefore(fault, reply);
  if (before > 0 || fault?.kind !== 'error') out.add(writer.begin());
  if (shape.reasoning !== undefined && before > 0) await sendReasoning(pieces, writer, shape);

  const sendText = (piece: string): string => {
    onText(piece.length);
    return writer.text(piece);
  };
  const sentOfText = await pieces.send(reply.text, before, sendText);
  let left = before - sentOfText;
  let whole = sentOfText === reply.text.length;
  for (const [index, call] of reply.calls.entries()) {
    if (!whole || (left === 0 && fault?.at !== undefined)) {
      whole = false;
      break;
    }
    out.add(writer.beginCall(index, call));
    const wrap = (piece: string): string => writer.callArguments(index, piece);
    const sent = await pieces.send(call.arguments, left, wrap);
    left -= sent;
    whole = sent === call.arguments.length;
  }
  if (out.closed) return;

  const struck = fault !== undefined && (fault.at === undefined || !whole || left === 0);
  if (struck && fault.kind === 'stall') {
    await out.flush();
    if (fault.forMs === undefined) return;
    await wait(fault.forMs);
    if (out.closed) return;
    await pieces.send(reply.text.slice(before), Number.POSITIVE_INFINITY, sendText);
  }
  await endReply(response, out, writer, reply, struck ? fault : undefined);
}

/** The whole of it, whatever the fault leaves of the reply. */
async function sendReasoning(pieces: Pieces, writer: WireWriter, shape: Shape): Promise<void> {
  const { reasoning = '', reasoningField: field = 'reasoning_content' } = shape;
  if (field === 'think')
    await pieces.send(`<think>${reasoning}</think>\n\n`, Number.POSITIVE_INFINITY, (piece) =>
      writer.text(piece),
    );
  else
    await pieces.send(reasoning, Number.POSITIVE_INFINITY, (piece) =>
      writer.reasoning(piece, field),
    );
}

async function endReply(
  response: ServerResponse,
  out: Output,
  writer: WireWriter,
  reply: PlannedReply,
  fault: Fault | undefined,
): Promise<void> {
  switch (fault?.kind) {
    case 'disconnect':
    case 'reset':
      await out.flush();
      await out.delivered();
      if (fault.kind === 'reset') response.socket?.resetAndDestroy();
      else response.socket?.destroy();
      return;
    case 'end':
      break;
    case 'error': {
      const {
        message = 'The scripted provider failed.',
        type = 'server_error',
        code,
        afterFinish = false,
      } = fault;
      out.add(writer.error({ message, type, code }, afterFinish));
      break;
    }
    default:
      out.add(writer.end(fault?.kind === 'length' ? 'length' : reply.finishReason));
  }
  await out.flush();
  response.end();
}

/** Texts as events, at the pace of the script and of the reader. */
class Pieces {
  readonly #out: Output;
  readonly #shape: Shape;
  readonly #nextSize: () => number;
  readonly #due: (events: number) => number;
  #events = 0;

  constructor(out: Output, shape: Shape) {
    this.#out = out;
    this.#shape = shape;
    this.#nextSize = createSizes(shape.chunk ?? DEFAULT_CHUNK, shape.seed ?? 1);
    this.#due = createPace(shape.eventsPerSecond ?? 0);
  }

  /** Sends a text up to `limit` characters, one event per piece; gives back how many were to be sent. */
  async send(text: string, limit: number, wrap: (piece: string) => string): Promise<number> {
    const out = this.#out;
    const { splitSurrogates = false, comments = 0 } = this.#shape;
    const end = Math.min(text.length, limit);
    for (let position = 0; position < end && !out.closed;) {
      let next = Math.min(position + this.#nextSize(), end);
      if (!splitSurrogates && next < text.length && isHighSurrogate(text.charCodeAt(next - 1)))
        next += 1;
      if (comments > 0 && this.#events % COMMENT_EVERY === 0) out.add(KEEP_ALIVE);
      out.add(wrap(text.slice(position, next)));
      this.#events += 1;
      position = next;
      const due = this.#due(this.#events);
      if (due >= SHORTEST_WAIT_MS) {
        await out.flush();
        await wait(due);
      } else if (out.size >= FLUSH_CHARACTERS) {
        await out.flush();
      }
    }
    return end;
  }
}

type Output = {
  add(text: string): void;
  readonly size: number;
  readonly closed: boolean;
  flush(): Promise<void>;
  /** What was written has been handed to the network. */
  delivered(): Promise<void>;
};

function createOutput(response: ServerResponse, shape: Shape): Output {
  let buffer = '';
  let closed = false;
  response.on('close', () => {
    closed = true;
  });
  const nextCut =
    shape.bytes === undefined ? undefined : createSizes(shape.bytes, (shape.seed ?? 1) + 1);

  async function write(bytes: Buffer): Promise<void> {
    if (closed || response.write(bytes)) return;
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

  return {
    add: (text) => {
      buffer += text;
    },
    get size(): number {
      return buffer.length;
    },
    get closed(): boolean {
      return closed;
    },
    flush: async () => {
      if (buffer === '' || closed) return;
      const bytes = Buffer.from(shape.crlf === true ? buffer.replaceAll('\n', '\r\n') : buffer);
      buffer = '';
      if (nextCut === undefined) {
        await write(bytes);
        return;
      }
      for (let start = 0; start < bytes.length && !closed;) {
        const end = start + nextCut();
        await write(bytes.subarray(start, end));
        // A turn of the event loop each, so that the pieces leave as separate segments.
        await nextTurn();
        start = end;
      }
    },
    delivered: async () => {
      if (closed) return;
      await new Promise<void>((resolve) => {
        response.once('close', resolve);
        response.write('', () => resolve());
      });
      while (!closed && (response.socket?.writableLength ?? 0) > 0) await wait(1);
    },
  };
}

const WRITERS: Readonly<Record<WireName, (reply: ReplyFacts) => WireWriter>> = {
  chat: createChatWriter,
  responses: createResponsesWriter,
  messages: createMessagesWriter,
};

function createWriter(reply: PlannedReply): WireWriter {
  const { shape } = reply;
  return WRITERS[reply.wire]({
    id: reply.id,
    model: reply.model,
    promptTokens: reply.promptTokens,
    completionTokens: tokens(
      reply.text.length + reply.calls.reduce((sum, call) => sum + call.arguments.length, 0),
    ),
    wantsUsage: reply.wantsUsage && shape.usage !== false,
    changingIds: shape.changingIds === true,
    endMark: shape.endMark ?? 'both',
  });
}

/** Four characters each, the usual rule of thumb. */
export function tokens(characters: number): number {
  return Math.ceil(characters / 4);
}

/** How long until the event that was just made is due. */
function createPace(eventsPerSecond: number): (events: number) => number {
  if (eventsPerSecond === 0) return () => 0;
  const start = performance.now();
  return (events) => start + (events * 1000) / eventsPerSecond - performance.now();
}

/** Without a place these strike at the end, all others before the first character. */
const AT_THE_END: ReadonlySet<Fault['kind']> = new Set<Fault['kind']>(['length', 'end', 'stop']);

/** After how many characters of the reply the fault strikes; without a place at the end or before the first. */
function charactersBefore(fault: Fault | undefined, reply: PlannedReply): number {
  if (fault === undefined) return Number.POSITIVE_INFINITY;
  if (fault.at === undefined) {
    return AT_THE_END.has(fault.kind) ? Number.POSITIVE_INFINITY : 0;
  }
  let characters = fault.at.characters ?? Number.POSITIVE_INFINITY;
  if (fault.at.lines !== undefined) {
    let end = 0;
    for (let line = 0; line < fault.at.lines && end !== -1; line += 1) {
      const found = reply.text.indexOf('\n', end);
      end = found === -1 ? -1 : found + 1;
    }
    if (end !== -1) characters = Math.min(characters, end);
  }
  return characters;
}

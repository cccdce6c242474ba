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
  for (let count = 0; count < (shape.comments ?? 0); count += 1) out.add(': keep-alive\n\n');

  const writer = createWriter(reply);
  const nextSize = createSizes(shape.chunk ?? DEFAULT_CHUNK, shape.seed ?? 1);
  const pace = createPace(shape.eventsPerSecond ?? 0);
  let left = charactersBefore(fault, reply);
  let events = 0;
  if (left > 0 || fault?.kind !== 'error') out.add(writer.begin());

  /** Sends as much of a text as the fault leaves, one event per piece; false when it is used up. */
  async function sendPieces(text: string, wrap: (piece: string) => string): Promise<boolean> {
    const end = Math.min(text.length, left);
    for (let position = 0; position < end && !out.closed;) {
      let next = Math.min(position + nextSize(), end);
      if (
        shape.splitSurrogates !== true &&
        next < text.length &&
        isHighSurrogate(text.charCodeAt(next - 1))
      )
        next += 1;
      if ((shape.comments ?? 0) > 0 && events % COMMENT_EVERY === 0) out.add(': keep-alive\n\n');
      out.add(wrap(text.slice(position, next)));
      events += 1;
      position = next;
      const due = pace(events);
      if (due >= SHORTEST_WAIT_MS) {
        await out.flush();
        await wait(due);
      } else if (out.size >= FLUSH_CHARACTERS) {
        await out.flush();
      }
    }
    left -= end;
    return end === text.length;
  }

  if (shape.reasoning !== undefined && left > 0) {
    const { reasoning, reasoningField = 'reasoning_content' } = shape;
    const kept = left;
    left = Number.POSITIVE_INFINITY;
    if (reasoningField === 'think')
      await sendPieces(`<think>${reasoning}</think>\n\n`, (piece) => writer.text(piece));
    else await sendPieces(reasoning, (piece) => writer.reasoning(piece, reasoningField));
    left = kept;
  }
  const sendText = (piece: string): string => {
    onText(piece.length);
    return writer.text(piece);
  };
  let whole = await sendPieces(reply.text, sendText);
  for (const [index, call] of reply.calls.entries()) {
    if (!whole || (left === 0 && fault?.at !== undefined)) {
      whole = false;
      break;
    }
    out.add(writer.beginCall(index, call));
    whole = await sendPieces(call.arguments, (piece) => writer.callArguments(index, piece));
  }
  if (out.closed) return;

  const struck = fault !== undefined && (fault.at === undefined || !whole || left === 0);
  const kind = struck ? fault.kind : undefined;
  switch (kind) {
    case 'disconnect':
    case 'reset':
      await out.flush();
      await out.delivered();
      if (kind === 'reset') response.socket?.resetAndDestroy();
      else response.socket?.destroy();
      return;
    case 'stall':
      await out.flush();
      if (fault?.forMs === undefined) return;
      await wait(fault.forMs);
      if (out.closed) return;
      left = Number.POSITIVE_INFINITY;
      await sendPieces(reply.text.slice(charactersBefore(fault, reply)), sendText);
      break;
    case 'end':
      await out.flush();
      response.end();
      return;
    case 'error': {
      const {
        message = 'The scripted provider failed.',
        type = 'server_error',
        code,
        afterFinish = false,
      } = fault ?? {};
      out.add(writer.error({ message, type, code }, afterFinish));
      await out.flush();
      response.end();
      return;
    }
    case 'length':
    case 'stop':
    case 'status':
    case undefined:
      break;
    default:
      kind satisfies never;
  }

  out.add(writer.end(kind === 'length' ? 'length' : reply.finishReason));
  await out.flush();
  response.end();
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

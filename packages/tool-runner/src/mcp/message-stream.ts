import { MAX_JSON_DEPTH, nestsDeeper } from '@orion/contracts';

import type { ServerBroke } from './server.ts';
import type { McpLimits } from './server.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** What one connection over HTTP has received since its latest call began. */
export type HttpMeter = { messages: number };

export type MessageStreamOptions = {
  /** A stream of events, each of which is a message; else the whole body is one. */
  readonly isEvents: boolean;
  readonly limits: McpLimits;
  readonly meter: HttpMeter;
  /** Ends the connection; the reason completes a sentence about the server. */
  readonly refuse: (why: string) => ServerBroke;
};

/**
 * Passes a body on, message by message, and ends it at the first one that breaks a limit: the reader behind it never
 * holds the beginning of a message, however small the pieces are in which it arrives. Any line end ends a line.
 */
export function messageStream({
  isEvents,
  limits,
  meter,
  refuse,
}: MessageStreamOptions): TransformStream<Uint8Array, Uint8Array> {
  let parts: Uint8Array[] = [];
  let held = 0;
  let isLineEmpty = true;
  let isAfterReturn = false;

  /** Where the event ends that began before this chunk or in it; -1 if it goes on. */
  function endOfEvent(chunk: Uint8Array, start: number): number {
    for (let index = start; index < chunk.length; index += 1) {
      const byte = chunk[index];
      const isSecondHalf = byte === LINE_FEED && isAfterReturn;
      isAfterReturn = byte === CARRIAGE_RETURN;
      if (isSecondHalf) continue;
      if (byte !== LINE_FEED && byte !== CARRIAGE_RETURN) isLineEmpty = false;
      else if (isLineEmpty) return index + 1;
      else isLineEmpty = true;
    }
    return -1;
  }

  type Controller = TransformStreamDefaultController<Uint8Array>;

  /** Throws `ServerBroke`. */
  function hold(part: Uint8Array): void {
    held += part.length;
    if (held > limits.messageBytes) {
      throw refuse(`it sent a message of more than ${limits.messageBytes} bytes`);
    }
    parts.push(part);
  }

  function pass(controller: Controller): void {
    const message = Buffer.concat(parts);
    parts = [];
    held = 0;
    if (nestsDeeper(message.toString('utf8'), MAX_JSON_DEPTH)) {
      throw refuse(`it sent JSON that is nested deeper than ${MAX_JSON_DEPTH} levels`);
    }
    controller.enqueue(message);
  }

  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      let start = 0;
      for (let end = 0; isEvents && end !== -1;) {
        end = endOfEvent(chunk, start);
        if (end === -1) break;
        hold(chunk.subarray(start, end));
        start = end;
        countMessage(meter, limits, refuse);
        pass(controller);
      }
      hold(chunk.subarray(start));
    },
    flush(controller) {
      if (held > 0) pass(controller);
    },
  });
}

/** Throws `ServerBroke` beyond the limit. */
export function countMessage(
  meter: HttpMeter,
  { messages }: McpLimits,
  refuse: MessageStreamOptions['refuse'],
): void {
  meter.messages += 1;
  if (meter.messages > messages) {
    throw refuse(`it sent more than ${messages} messages in one call`);
  }
}

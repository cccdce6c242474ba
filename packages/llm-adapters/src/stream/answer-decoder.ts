import type { LlmEvent, Redact } from '@orion/contracts';

import { createEventStreamDecoder } from './event-stream.ts';
import { MessageEvents } from './message-events.ts';
import type { MessageOptions } from './message-events.ts';
import { createPayloadReader } from './payloads.ts';
import type { WireFormat } from './payloads.ts';

/** Decodes one answer, from the bytes of its body to events, wherever the bytes come from. */
export type AnswerDecoder = {
  readonly message: Pick<MessageEvents, 'ended' | 'askedWaitMs' | 'fail'>;
  feed(bytes: Uint8Array): void;
  /** The body has ended in an orderly way. */
  end(): void;
  /** The events since the last call. Once the message has ended, the last one is final. */
  take(): LlmEvent[];
};

export function createAnswerDecoder(
  createFormat: (message: MessageEvents) => WireFormat,
  redact: Redact,
  options: MessageOptions,
): AnswerDecoder {
  const message = new MessageEvents(redact, options);
  const format = createFormat(message);
  const stream = createEventStreamDecoder(createPayloadReader(format, message, redact));
  return {
    message,
    feed: (bytes) => stream.feed(bytes),
    end: () => {
      stream.end();
      if (!message.ended) format.end();
    },
    take: () => message.take(),
  };
}

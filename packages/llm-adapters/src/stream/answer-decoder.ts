import type { LlmEvent, Redact } from '@orion/contracts';

import { createEventStreamDecoder } from './event-stream.ts';
import { MessageEvents } from './message-events.ts';
import type { MessageOptions } from './message-events.ts';
import { createPayloadReader } from './payloads.ts';
import type { WireFormat } from './payloads.ts';

/** One answer, from the bytes of its body to events. Says nothing of where the bytes come from. */
export type AnswerDecoder = {
  readonly message: Pick<MessageEvents, 'ended' | 'fail'>;
  feed(bytes: Uint8Array): void;
  /** The body has ended in an orderly way. */
  end(): void;
  /** The events that came since the last call; after the message has ended the last one of them is final. */
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

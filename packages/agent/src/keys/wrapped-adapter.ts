import { defined } from '@orion/contracts';
import type { LlmAdapter, LlmEvent, Message, SendOptions } from '@orion/contracts';

/** The adapter with what its answers go through on their way; nothing is sent before they are read. */
export function wrapAdapter(
  adapter: LlmAdapter,
  pass: (
    send: () => AsyncIterable<LlmEvent>,
    messages: readonly Message[],
    options: SendOptions,
  ) => AsyncGenerator<LlmEvent, void, undefined>,
): LlmAdapter {
  const { name, model, limits, signalsMessageEnd, structuredOutput, writesThinkTags } = adapter;
  return {
    name,
    model,
    signalsMessageEnd,
    structuredOutput,
    ...defined({ limits, writesThinkTags }),
    sendMessagesStreaming: (...request) =>
      pass(() => adapter.sendMessagesStreaming(...request), ...request),
  };
}

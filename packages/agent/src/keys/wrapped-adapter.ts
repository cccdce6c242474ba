import { defined } from '@orion/contracts';
import type { LlmAdapter, LlmEvent, Message, SendOptions } from '@orion/contracts';

/**
 * The adapter with what its answers go through on their way; nothing is sent before they are read. `more` is sent in
 * place of those options.
 */
export function wrapAdapter(
  adapter: LlmAdapter,
  pass: (
    send: (more?: SendOptions) => AsyncIterable<LlmEvent>,
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
    sendMessagesStreaming: (messages, options) =>
      pass(
        (more) => adapter.sendMessagesStreaming(messages, { ...options, ...more }),
        messages,
        options,
      ),
  };
}

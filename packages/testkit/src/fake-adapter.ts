import type { LlmAdapter, LlmEvent, Message, SendOptions, ToolCall } from '@orion/contracts';

/** A request as it arrived; the messages are a copy, so that later changes of them show. */
export type SentRequest = {
  readonly messages: readonly Message[];
  readonly options: SendOptions;
};

/** What one model call answers: its events, or a function that sees the request first. */
export type FakeReply =
  | readonly LlmEvent[]
  | ((request: SentRequest) => Iterable<LlmEvent> | AsyncIterable<LlmEvent>);

/**
 * An adapter that plays a list of replies, one for each model call.
 *
 * A call beyond the list throws: a protocol makes that an error outcome, and `assertConsumed` names it. For
 * protocol tests only; adapters themselves are tested through a socket.
 */
export interface FakeAdapter extends LlmAdapter {
  readonly requests: readonly SentRequest[];
  /** Streams that were opened and neither ended nor closed. */
  open(): number;
  /** Throws if a call came too many or a reply is left. */
  assertConsumed(): void;
}

export function createFakeAdapter(
  replies: readonly FakeReply[],
  options: { readonly structuredOutput?: boolean } = {},
): FakeAdapter {
  const requests: SentRequest[] = [];
  let unexpected = 0;
  let open = 0;

  async function* play(reply: FakeReply, request: SentRequest): AsyncGenerator<LlmEvent> {
    open += 1;
    try {
      yield* typeof reply === 'function' ? reply(request) : reply;
    } finally {
      open -= 1;
    }
  }

  return {
    name: 'fake',
    model: 'fake-model',
    signalsMessageEnd: true,
    structuredOutput: options.structuredOutput ?? false,
    requests,
    open: () => open,
    sendMessagesStreaming(messages, sendOptions) {
      const request: SentRequest = { messages: structuredClone(messages), options: sendOptions };
      const reply = replies[requests.length];
      requests.push(request);
      if (reply === undefined) {
        unexpected += 1;
        throw new Error(`Unexpected model call number ${requests.length}`);
      }
      return play(reply, request);
    },
    assertConsumed() {
      if (unexpected > 0) throw new Error(`${unexpected} model calls were not expected`);
      if (requests.length < replies.length) {
        throw new Error(`${replies.length - requests.length} replies were not asked for`);
      }
    },
  };
}

/** The events of a message of plain text. */
export function textReply(...texts: readonly string[]): LlmEvent[] {
  return [
    ...texts.map((text): LlmEvent => ({ type: 'text-delta', text })),
    { type: 'finish', reason: 'stop' },
  ];
}

/** The events of a message that makes calls, optionally after some text. */
export function callsReply(calls: readonly ToolCall[], text: string = ''): LlmEvent[] {
  return [
    ...(text === '' ? [] : [{ type: 'text-delta', text } as const]),
    ...calls.flatMap((call, index): LlmEvent[] => [
      { type: 'tool-call-start', index, id: call.id, name: call.name },
      { type: 'tool-call-delta', index, argumentsDelta: call.arguments },
      { type: 'tool-call-end', index, call },
    ]),
    { type: 'finish', reason: 'tool_calls' },
  ];
}

/** A complete call; `args` as an object, or as the exact text of the arguments. */
export function toolCall(
  id: string,
  name: string,
  args: string | Readonly<Record<string, unknown>> = {},
  state: ToolCall['state'] = 'complete',
): ToolCall {
  return { id, name, arguments: typeof args === 'string' ? args : JSON.stringify(args), state };
}

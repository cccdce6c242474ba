/** Events of formats that name them: Messages and Responses. */
export type NamedEvent = { readonly type: string; readonly [field: string]: unknown };

export function namedEvents(...events: readonly NamedEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

/** The beginning of a Messages answer. */
export const MESSAGE_START: NamedEvent = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 7, output_tokens: 1, cache_read_input_tokens: 5 },
  },
};
export const MESSAGE_STOP: NamedEvent = { type: 'message_stop' };

export function messageEnd(reason: string): NamedEvent {
  return {
    type: 'message_delta',
    delta: { stop_reason: reason, stop_sequence: null },
    usage: { output_tokens: 9 },
  };
}

export function textBlock(index: number, ...pieces: readonly string[]): readonly NamedEvent[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    ...pieces.map((text) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'text_delta', text },
    })),
  ];
}

export function callBlock(
  index: number,
  id: string,
  name: string,
  ...pieces: readonly string[]
): readonly NamedEvent[] {
  return [
    {
      type: 'content_block_start',
      index,
      content_block: { type: 'tool_use', id, name, input: {} },
    },
    ...pieces.map((piece) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: piece },
    })),
  ];
}

/** The beginning of a Responses answer. */
export const RESPONSE_START: NamedEvent = {
  type: 'response.created',
  response: { id: 'resp_1', status: 'in_progress', output: [] },
};

export function responseEnd(status: string, more: object = {}): NamedEvent {
  return {
    type: `response.${status}`,
    response: {
      id: 'resp_1',
      status,
      output: [],
      usage: {
        input_tokens: 7,
        output_tokens: 9,
        input_tokens_details: { cached_tokens: 5 },
        output_tokens_details: { reasoning_tokens: 2 },
      },
      ...more,
    },
  };
}

export function textDelta(delta: string): NamedEvent {
  return { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta };
}

export function functionCall(index: number, id: string, name: string): NamedEvent {
  return {
    type: 'response.output_item.added',
    output_index: index,
    item: { type: 'function_call', id: `fc_${index}`, call_id: id, name, arguments: '' },
  };
}

export function argumentsDelta(index: number, delta: string): NamedEvent {
  return { type: 'response.function_call_arguments.delta', output_index: index, delta };
}

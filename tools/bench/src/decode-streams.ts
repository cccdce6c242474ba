import { createAdapter } from '@orion/llm-adapters';

/** A kind of stream, as one provider or another sends it. */
export type DecodeShape = {
  readonly name: string;
  readonly provider: 'openai' | 'openai-responses' | 'anthropic';
  /** The text of one event, and of what comes before and after all of them. */
  readonly event: (piece: string, index: number) => string;
  readonly head: string;
  readonly tail: string;
};

export type DecodeStream = {
  readonly text: string;
  /** In pieces of the size in which a fast network brings them. */
  readonly chunks: readonly Uint8Array[];
};

const CHUNK_BYTES = 64 * 1024;
const DONE = 'data: [DONE]\n\n';

const chunk = (delta: object, more: object = {}, finish: string | null = null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-D8Z5oo6uDh67AD85p73ksdT1KxhE0',
    object: 'chat.completion.chunk',
    created: 1_770_933_892,
    model: 'gpt-4.1-nano-2025-04-14',
    system_fingerprint: 'fp_de604bd877',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    ...more,
  })}\n\n`;

const named = (type: string, fields: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;

export const DECODE_SHAPES: readonly DecodeShape[] = [
  {
    name: 'chat completions, one envelope',
    provider: 'openai',
    head: '',
    event: (content) => chunk({ content }),
    tail: chunk({}, {}, 'stop') + DONE,
  },
  {
    name: 'chat completions, each event different',
    provider: 'openai',
    head: '',
    event: (content, index) =>
      chunk({ content }, { usage: null, obfuscation: `x${index * 7919}`.slice(0, 8) }),
    tail: chunk({}, {}, 'stop') + DONE,
  },
  {
    name: 'chat completions, reasoning',
    provider: 'openai',
    head: '',
    event: (text) => chunk({ content: null, reasoning_content: text }),
    tail: chunk({}, {}, 'stop') + DONE,
  },
  {
    name: 'Messages',
    provider: 'anthropic',
    head:
      named('message_start', { message: { id: 'msg_1', usage: { input_tokens: 1 } } }) +
      named('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event: (text) =>
      named('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
    tail:
      named('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } }) +
      named('message_stop', {}),
  },
  {
    name: 'Responses',
    provider: 'openai-responses',
    head: named('response.created', { response: { id: 'resp_1' }, sequence_number: 0 }),
    event: (delta, index) =>
      named('response.output_text.delta', {
        item_id: 'msg_67e554a2',
        output_index: 0,
        content_index: 0,
        delta,
        sequence_number: index + 1,
      }),
    tail: named('response.completed', { response: { id: 'resp_1', status: 'completed' } }),
  },
];

/** Pieces of 4 to 24 characters of source code, some of them with what JSON escapes. */
export function streamOf(shape: DecodeShape, events: number): DecodeStream {
  const pieces = Array.from({ length: events }, (_, index) => {
    const word = `value_${(index * 7919) % 997}`;
    if (index % 9 === 0) return `${word};\n`;
    if (index % 31 === 0) return ` = "Größe ${index % 7}"`;
    return index % 2 === 0 ? ` ${word}` : `const ${word} = ${index % 100}`;
  });
  const bytes = Buffer.from(shape.head + pieces.map(shape.event).join('') + shape.tail);
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; start += CHUNK_BYTES)
    chunks.push(bytes.subarray(start, start + CHUNK_BYTES));
  return { text: pieces.join(''), chunks };
}

/** The whole adapter; only the network is missing. */
export async function decodeWithAdapter(shape: DecodeShape, stream: DecodeStream): Promise<void> {
  const chunks = stream.chunks[Symbol.iterator]();
  const adapter = await createAdapter({
    provider: shape.provider,
    model: 'm',
    baseUrl: 'http://127.0.0.1:1/v1',
    fetch: () =>
      Promise.resolve(
        new Response(
          new ReadableStream<Uint8Array>({
            pull: (controller) => {
              const { done, value } = chunks.next();
              if (done === true) controller.close();
              else controller.enqueue(value);
            },
          }),
        ),
      ),
  });
  let length = 0;
  let end = '';
  const question = [{ role: 'user', content: 'Hello' }] as const;
  for await (const event of adapter.sendMessagesStreaming(question, {})) {
    if (event.type === 'text-delta' || event.type === 'reasoning-delta')
      length += event.text.length;
    else end = event.type;
  }
  if (length !== stream.text.length || end !== 'finish')
    throw new Error(`${shape.name}: ${length} of ${stream.text.length} characters, then ${end}`);
}

/** The yardstick: splits the body into events and parses each of them; it knows no provider and no mistakes. */
export function parseBarely({ chunks }: DecodeStream): void {
  const decoder = new TextDecoder();
  let rest = '';
  let parsed: unknown;
  for (const bytes of chunks) {
    const text = rest + decoder.decode(bytes, { stream: true });
    let start = 0;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n', start)) {
      const data = text.indexOf('data: ', start) + 'data: '.length;
      const payload = text.slice(data, end);
      if (payload !== '[DONE]') parsed = JSON.parse(payload);
      start = end + 2;
    }
    rest = text.slice(start);
  }
  if (parsed === undefined) throw new Error('nothing was parsed');
}

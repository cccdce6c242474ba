import { usageOf } from './wire-writer.ts';
import type { ReplyFacts, WireWriter } from './wire-writer.ts';

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

/** The Messages format: consecutive blocks, each opened and closed. */
export function createMessagesWriter(reply: ReplyFacts): WireWriter {
  let index = -1;
  let open: 'text' | 'thinking' | 'tool_use' | undefined;
  let textPrefix = '';

  function close(): string {
    if (open === undefined) return '';
    open = undefined;
    return event('content_block_stop', { index });
  }

  function start(kind: 'text' | 'thinking' | 'tool_use', block: object): string {
    const closing = close();
    index += 1;
    open = kind;
    return (
      closing + event('content_block_start', { index, content_block: { type: kind, ...block } })
    );
  }

  function stop(reason: string): string {
    const delta = { stop_reason: STOP_REASONS[reason] ?? reason, stop_sequence: null };
    return (
      close() + event('message_delta', { delta, usage: { output_tokens: reply.completionTokens } })
    );
  }

  return {
    begin: () =>
      event('message_start', {
        message: {
          id: reply.id,
          type: 'message',
          role: 'assistant',
          model: reply.model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usageOf(reply), output_tokens: 1, cache_read_input_tokens: 0 },
        },
      }) + event('ping', {}),
    text: (piece) => {
      let before = '';
      if (open !== 'text') {
        before = start('text', { text: '' });
        textPrefix = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":`;
      }
      return `${before}${textPrefix}${JSON.stringify(piece)}}}\n\n`;
    },
    reasoning: (piece) => {
      const before = open === 'thinking' ? '' : start('thinking', { thinking: '', signature: '' });
      const delta = { type: 'thinking_delta', thinking: piece };
      return before + event('content_block_delta', { index, delta });
    },
    beginCall: (_index, { id, name }) => start('tool_use', { id, name, input: {} }),
    callArguments: (_index, piece) =>
      event('content_block_delta', {
        index,
        delta: { type: 'input_json_delta', partial_json: piece },
      }),
    error: ({ message, type }, afterFinish) =>
      (afterFinish ? stop('length') : '') + event('error', { error: { type, message } }),
    end: (reason) => stop(reason) + event('message_stop', {}),
  };
}

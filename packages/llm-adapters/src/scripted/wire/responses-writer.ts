import { usageOf } from './wire-writer.ts';
import type { ReplyFacts, WireWriter } from './wire-writer.ts';

type Item =
  | { readonly kind: 'message'; readonly id: string }
  | { readonly kind: 'reasoning'; readonly id: string }
  | { readonly kind: 'call'; readonly id: string; readonly callId: string; readonly name: string };

/** The Responses format: numbered events, items one after the other, each repeated whole when it is done. */
export function createResponsesWriter(reply: ReplyFacts): WireWriter {
  let sequence = -1;
  let index = -1;
  let open: Item | undefined;
  let whole: string[] = [];

  function event(type: string, fields: object): string {
    sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields, sequence_number: sequence })}\n\n`;
  }

  function response(status: string, more: object = {}): object {
    return {
      response: {
        id: reply.id,
        object: 'response',
        created_at: 1_700_000_000,
        status,
        model: reply.model,
        error: null,
        incomplete_details: null,
        output: [],
        ...more,
      },
    };
  }

  function itemOf(item: Item, status: string, text: string): object {
    switch (item.kind) {
      case 'message': {
        const content =
          status === 'in_progress' ? [] : [{ type: 'output_text', text, annotations: [] }];
        return { type: 'message', id: item.id, role: 'assistant', status, content };
      }
      case 'reasoning':
        return { type: 'reasoning', id: item.id, summary: [] };
      case 'call':
        return {
          type: 'function_call',
          id: item.id,
          call_id: item.callId,
          name: item.name,
          arguments: text,
          status,
        };
      default:
        return item satisfies never;
    }
  }

  function start(item: Item): string {
    const closing = close();
    index += 1;
    open = item;
    return (
      closing +
      event('response.output_item.added', {
        output_index: index,
        item: itemOf(item, 'in_progress', ''),
      })
    );
  }

  function close(): string {
    if (open === undefined) return '';
    const item = open;
    const text = whole.join('');
    const place = { item_id: item.id, output_index: index };
    open = undefined;
    whole = [];
    const done =
      item.kind === 'message'
        ? event('response.output_text.done', { ...place, content_index: 0, text })
        : item.kind === 'call'
          ? event('response.function_call_arguments.done', { ...place, arguments: text })
          : '';
    const ended = itemOf(item, 'completed', text);
    return done + event('response.output_item.done', { output_index: index, item: ended });
  }

  function piece(type: string, text: string, more: object = {}): string {
    whole.push(text);
    return event(type, { item_id: open?.id, output_index: index, ...more, delta: text });
  }

  const usage = {
    ...usageOf(reply),
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: reply.promptTokens + reply.completionTokens,
  };

  return {
    begin: () =>
      event('response.created', response('in_progress')) +
      event('response.in_progress', response('in_progress')),
    text: (text) => {
      const before =
        open?.kind === 'message' ? '' : start({ kind: 'message', id: `msg_${index + 1}` });
      return before + piece('response.output_text.delta', text, { content_index: 0 });
    },
    reasoning: (text) => {
      const before =
        open?.kind === 'reasoning' ? '' : start({ kind: 'reasoning', id: `rs_${index + 1}` });
      return before + piece('response.reasoning_summary_text.delta', text, { summary_index: 0 });
    },
    beginCall: (_index, { id, name }) =>
      start({ kind: 'call', id: `fc_${index + 1}`, callId: id, name }),
    callArguments: (_index, text) => piece('response.function_call_arguments.delta', text),
    error: ({ message, type, code }, afterFinish) => {
      const error = { type, code: code ?? type, message };
      const failed = event('error', { error });
      return afterFinish
        ? failed + event('response.failed', response('failed', { error: { code: type, message } }))
        : failed;
    },
    end: (reason) => {
      // An item that the limit cut off is never done.
      const closing = reason === 'length' ? '' : close();
      const reasons: Readonly<Record<string, string>> = {
        length: 'max_output_tokens',
        content_filter: 'content_filter',
      };
      const incomplete = reasons[reason];
      return (
        closing +
        (incomplete === undefined
          ? event('response.completed', response('completed', { usage }))
          : event(
              'response.incomplete',
              response('incomplete', { usage, incomplete_details: { reason: incomplete } }),
            ))
      );
    },
  };
}

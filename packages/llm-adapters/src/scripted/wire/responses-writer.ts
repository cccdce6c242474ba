import { usageOf } from './wire-writer.ts';
import type { ReplyFacts, ScriptedError, WireWriter } from './wire-writer.ts';

type Item =
  | { readonly kind: 'message' | 'reasoning'; readonly id: string }
  | { readonly kind: 'call'; readonly id: string; readonly callId: string; readonly name: string };

/** The Responses format: numbered events and consecutive items, each repeated whole when it is done. */
export function createResponsesWriter(reply: ReplyFacts): WireWriter {
  return new ResponsesWriter(reply);
}

class ResponsesWriter implements WireWriter {
  readonly #reply: ReplyFacts;
  #sequence = -1;
  #index = -1;
  #open: Item | undefined;
  #whole: string[] = [];

  constructor(reply: ReplyFacts) {
    this.#reply = reply;
  }

  begin(): string {
    return (
      this.#event('response.created', this.#response('in_progress')) +
      this.#event('response.in_progress', this.#response('in_progress'))
    );
  }

  text(text: string): string {
    const before = this.#inside('message');
    return before + this.#piece('response.output_text.delta', text, { content_index: 0 });
  }

  reasoning(text: string): string {
    const before = this.#inside('reasoning');
    return (
      before + this.#piece('response.reasoning_summary_text.delta', text, { summary_index: 0 })
    );
  }

  beginCall(_index: number, { id, name }: { readonly id: string; readonly name: string }): string {
    return this.#start({ kind: 'call', id: `fc_${this.#index + 1}`, callId: id, name });
  }

  callArguments(_index: number, text: string): string {
    return this.#piece('response.function_call_arguments.delta', text);
  }

  error({ message, type, code }: ScriptedError, afterFinish: boolean): string {
    const failed = this.#event('error', { error: { type, code: code ?? type, message } });
    if (!afterFinish) return failed;
    const response = this.#response('failed', { error: { code: type, message } });
    return failed + this.#event('response.failed', response);
  }

  end(reason: string): string {
    // An item that the length limit cut off is never done.
    const closing = reason === 'length' ? '' : this.#close();
    const cut = CUT_REASONS.get(reason);
    const status = cut === undefined ? 'completed' : 'incomplete';
    const response = this.#response(status, {
      usage: usageInDetail(this.#reply),
      ...(cut === undefined ? {} : { incomplete_details: { reason: cut } }),
    });
    return closing + this.#event(`response.${status}`, response);
  }

  #event(type: string, fields: object): string {
    this.#sequence += 1;
    return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields, sequence_number: this.#sequence })}\n\n`;
  }

  #response(status: string, more: object = {}): object {
    return {
      response: {
        id: this.#reply.id,
        object: 'response',
        created_at: 1_700_000_000,
        status,
        model: this.#reply.model,
        error: null,
        incomplete_details: null,
        output: [],
        ...more,
      },
    };
  }

  /** The events before a piece of such an item. */
  #inside(kind: 'message' | 'reasoning'): string {
    if (this.#open?.kind === kind) return '';
    return this.#start({ kind, id: `${kind === 'message' ? 'msg' : 'rs'}_${this.#index + 1}` });
  }

  #start(item: Item): string {
    const closing = this.#close();
    this.#index += 1;
    this.#open = item;
    const added = { output_index: this.#index, item: itemOf(item, 'in_progress', '') };
    return closing + this.#event('response.output_item.added', added);
  }

  #close(): string {
    if (this.#open === undefined) return '';
    const item = this.#open;
    const text = this.#whole.join('');
    const place = { item_id: item.id, output_index: this.#index };
    this.#open = undefined;
    this.#whole = [];
    const done =
      item.kind === 'message'
        ? this.#event('response.output_text.done', { ...place, content_index: 0, text })
        : item.kind === 'call'
          ? this.#event('response.function_call_arguments.done', { ...place, arguments: text })
          : '';
    const ended = { output_index: this.#index, item: itemOf(item, 'completed', text) };
    return done + this.#event('response.output_item.done', ended);
  }

  #piece(type: string, text: string, more: object = {}): string {
    this.#whole.push(text);
    const place = { item_id: this.#open?.id, output_index: this.#index };
    return this.#event(type, { ...place, ...more, delta: text });
  }
}

const CUT_REASONS: ReadonlyMap<string, string> = new Map([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
]);

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

function usageInDetail(reply: ReplyFacts): object {
  return {
    ...usageOf(reply),
    input_tokens_details: { cached_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: reply.promptTokens + reply.completionTokens,
  };
}

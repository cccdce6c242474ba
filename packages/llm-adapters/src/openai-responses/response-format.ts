import { isFields } from '@orion/contracts';
import type { Fields, JsonValue, Usage } from '@orion/contracts';

import { providerError } from '../provider-error.ts';
import { ReturnedParts } from '../provider-data.ts';
import { truncated } from '../stream/message-events.ts';
import type { MessageEvents } from '../stream/message-events.ts';
import { fieldsOf, textField, tokenCount } from '../stream/payloads.ts';
import type { WireFormat } from '../stream/payloads.ts';

/** How many of the latest events, and how much of them, is remembered to detect repetitions by a resumed stream. */
const REMEMBERED_EVENTS = 256;
const REMEMBERED_CHARACTERS = 1024 * 1024;

/** The other ends of a response. */
const ENDS: ReadonlySet<string> = new Set(['incomplete', 'failed', 'cancelled']);

/**
 * What the payloads of a Responses stream mean.
 *
 * 1. Only `response.completed`, `incomplete`, `failed` or `cancelled` ends a message; `[DONE]`, which some servers also
 *    send, does not. How it ended is the status of the response: vLLM names every such event `response.completed`.
 * 2. Items are identified by their place in the output, because their ids change from event to event on some servers.
 * 3. Text or arguments that arrive whole count only if no piece of them has arrived before.
 * 4. Items of tools that the provider runs itself look like calls but are ignored.
 * 5. Items follow one another: a call whose item is done is complete when the next item begins.
 * 6. An event with the number and the content of an earlier one is a repetition. Equal content alone proves nothing: a
 *    file may hold the same line twice. Nor do numbers that come again with other content.
 */
export class ResponseFormat implements WireFormat {
  readonly name = 'the Responses format';
  readonly textKeys: readonly string[] = ['delta'];
  readonly #message: MessageEvents;
  /** Places of which pieces have arrived. */
  readonly #pieces = new Set<string>();
  readonly #latest = new Map<number, string>();
  #latestCharacters = 0;
  /** Whether no number has come again with other content: such numbers tell no events apart. */
  #numbersDiffer = true;
  readonly #returned = new ReturnedParts();
  #refused = false;

  constructor(message: MessageEvents) {
    this.#message = message;
  }

  plainText(payload: Fields): string | undefined {
    // A numbered event is also remembered, so that it does more than add its text.
    if (payload['type'] !== 'response.output_text.delta') return undefined;
    if (payload['sequence_number'] !== undefined || !this.#pieces.has(placeOf(payload, 'text')))
      return undefined;
    return typeof payload['delta'] === 'string' ? payload['delta'] : undefined;
  }

  read(payload: Fields): void {
    if (this.#isRepetition(payload)) return;
    const { type } = payload;
    switch (type) {
      case 'response.output_text.delta':
        this.#text(payload, 'text', textField(payload, 'delta'));
        return;
      case 'response.output_text.done':
        this.#wholeText(payload, 'text', payload);
        return;
      case 'response.refusal.delta':
        this.#text(payload, 'refusal', textField(payload, 'delta'));
        return;
      case 'response.refusal.done':
        this.#wholeText(payload, 'refusal', payload);
        return;
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning.delta':
        this.#message.reasoning(textField(payload, 'delta'));
        return;
      case 'response.reasoning_summary_part.added':
        // Parts of a summary are paragraphs, but no separator is sent.
        if (tokenCount(payload['summary_index']) > 0) this.#message.reasoning('\n\n');
        return;
      case 'response.output_item.added':
        if (isFields(payload['item'])) this.#startItem(payload, payload['item']);
        return;
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        this.#arguments(payload, textField(payload, 'delta'));
        return;
      case 'response.function_call_arguments.done':
        this.#wholeArguments(payload, payload['arguments']);
        return;
      case 'response.custom_tool_call_input.done':
        this.#wholeArguments(payload, payload['input']);
        return;
      case 'response.output_item.done':
        if (isFields(payload['item'])) this.#endItem(payload, payload['item']);
        return;
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        this.#end(type, fieldsOf(payload['response']));
        return;
      case 'error':
        this.#message.providerFailed(payload);
        return;
      default:
        // Some servers send errors in the form of another protocol.
        if (typeof type !== 'string' && isFields(payload['error']))
          this.#message.providerFailed(payload);
    }
  }

  readDocument(document: Fields): boolean {
    if (isFields(document['error']) && document['object'] !== 'response') {
      this.#message.providerFailed(document);
      return true;
    }
    if (!Array.isArray(document['output'])) return false;
    for (const [index, item] of (document['output'] as readonly unknown[]).entries()) {
      if (!isFields(item)) continue;
      this.#startItem({ output_index: index }, item);
      this.#endItem({ output_index: index }, item);
    }
    const status = textField(document, 'status');
    this.#end(`response.${status === '' ? 'completed' : status}`, document);
    return true;
  }

  done(): void {}

  end(): void {
    this.#message.fail(truncated());
  }

  #startItem(event: Fields, item: Fields): void {
    const custom = item['type'] === 'custom_tool_call';
    if (item['type'] !== 'function_call' && !custom) {
      if (item['type'] === 'message') this.#returned.textBegins();
      this.#message.nextPart();
      return;
    }
    this.#message.toolCall({
      providerValue: this.#returned.take(),
      index: indexOf(event),
      id: textField(item, 'call_id') || textField(item, 'id'),
      name: textField(item, 'name'),
      ...(custom ? { freeForm: true } : {}),
    });
  }

  #endItem(event: Fields, item: Fields): void {
    switch (item['type']) {
      case 'function_call':
      case 'custom_tool_call':
        this.#startItem(event, item);
        this.#wholeArguments(event, item[item['type'] === 'function_call' ? 'arguments' : 'input']);
        if (item['status'] !== 'incomplete')
          this.#message.toolCall({ index: indexOf(event), ended: true });
        return;
      case 'message':
        if (!Array.isArray(item['content'])) return;
        for (const [index, part] of (item['content'] as readonly unknown[]).entries()) {
          if (isFields(part)) this.#wholePart({ ...event, content_index: index }, part);
        }
        return;
      case 'reasoning': {
        const { id, summary, encrypted_content: hidden } = item;
        if (typeof id === 'string' && typeof hidden === 'string' && Array.isArray(summary))
          this.#returned.add({
            type: 'reasoning',
            id,
            summary: summary as JsonValue,
            encrypted_content: hidden,
          });
        return;
      }
      default:
    }
  }

  #wholePart(place: Fields, part: Fields): void {
    if (part['type'] === 'refusal') this.#wholeText(place, 'refusal', part);
    else if (part['type'] === 'output_text') this.#wholeText(place, 'text', part);
  }

  #text(event: Fields, kind: 'text' | 'refusal', text: string): void {
    if (kind === 'refusal') this.#refused = true;
    this.#pieces.add(placeOf(event, kind));
    this.#message.text(text);
  }

  /** Adds a text that arrives whole, from the field of its kind. */
  #wholeText(event: Fields, kind: 'text' | 'refusal', whole: Fields): void {
    if (!this.#pieces.has(placeOf(event, kind))) this.#text(event, kind, textField(whole, kind));
  }

  #arguments(event: Fields, fragment: string): void {
    if (fragment === '') return;
    this.#pieces.add(`arguments:${indexOf(event) ?? ''}`);
    this.#message.toolCall({ index: indexOf(event), arguments: fragment });
  }

  #wholeArguments(event: Fields, text: unknown): void {
    if (this.#pieces.has(`arguments:${indexOf(event) ?? ''}`)) return;
    this.#arguments(
      event,
      isFields(text) ? JSON.stringify(text) : typeof text === 'string' ? text : '',
    );
  }

  #isRepetition(event: Fields): boolean {
    const number = event['sequence_number'];
    if (typeof number !== 'number' || !this.#numbersDiffer) return false;
    const words = JSON.stringify(event);
    const earlier = this.#latest.get(number);
    if (earlier === words) return true;
    this.#numbersDiffer = earlier === undefined;
    this.#forget(number);
    this.#latest.set(number, words);
    this.#latestCharacters += words.length;
    for (const oldest of this.#latest.keys()) {
      const few = this.#latest.size <= REMEMBERED_EVENTS;
      if (few && this.#latestCharacters <= REMEMBERED_CHARACTERS) break;
      this.#forget(oldest);
    }
    return false;
  }

  #forget(number: number): void {
    this.#latestCharacters -= this.#latest.get(number)?.length ?? 0;
    this.#latest.delete(number);
  }

  #end(type: string, response: Fields): void {
    if (isFields(response['usage'])) this.#message.usage(readUsage(response['usage']));
    const status = textField(response, 'status');
    switch (type === 'response.completed' && ENDS.has(status) ? `response.${status}` : type) {
      case 'response.completed':
        this.#finish('stop');
        return;
      case 'response.incomplete': {
        const { reason } = fieldsOf(response['incomplete_details']);
        // Any other reason also means that the answer was cut off.
        this.#finish(reason === 'content_filter' ? 'refusal' : 'length');
        return;
      }
      case 'response.cancelled':
        this.#message.fail(
          providerError('PROVIDER_ERROR', 'The provider cancelled the response', true),
        );
        return;
      default:
        this.#message.providerFailed(response['error'] ?? '');
    }
  }

  #finish(reason: 'stop' | 'length' | 'refusal'): void {
    const refused = reason === 'stop' && this.#refused && this.#message.calls === 0;
    this.#message.finish(refused ? 'refusal' : reason, this.#returned.takeRest());
  }
}

function indexOf(event: Fields): number | undefined {
  return typeof event['output_index'] === 'number' ? event['output_index'] : undefined;
}

function placeOf(event: Fields, kind: string): string {
  return `${kind}:${tokenCount(event['output_index'])}:${tokenCount(event['content_index'])}`;
}

function readUsage(usage: Fields): Usage {
  const input = fieldsOf(usage['input_tokens_details']);
  const output = fieldsOf(usage['output_tokens_details']);
  return {
    inputTokens: tokenCount(usage['input_tokens']),
    outputTokens: tokenCount(usage['output_tokens']),
    cachedTokens: tokenCount(input['cached_tokens']),
    reasoningTokens: tokenCount(output['reasoning_tokens']),
  };
}

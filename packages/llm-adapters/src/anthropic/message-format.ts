import { isFields } from '@orion/contracts';
import type { Fields, FinishReason, Usage } from '@orion/contracts';

import { MOST_CHARACTERS, ReturnedParts } from '../provider-data.ts';
import { invalidStream, truncated } from '../stream/message-events.ts';
import type { MessageEvents } from '../stream/message-events.ts';
import { fieldsOf, textField, tokenCount } from '../stream/payloads.ts';
import type { WireFormat } from '../stream/payloads.ts';

/** A call. Its arguments may have been complete when its block began. */
type CallBlock = { readonly input: Fields; hasDeltas: boolean };

/**
 * What the payloads of a Messages stream mean.
 *
 * 1. Only `message_stop` ends a message. A stop reason alone does not.
 * 2. A second `message_start` with the same id is a repetition; one with another id is an error.
 * 3. Blocks follow one another. A call is complete when the next block begins. The end of its own block proves little,
 *    because it also comes when the message is cut within the block.
 * 4. Blocks of tools that the provider runs itself look like calls but are ignored, as is everything unknown.
 */
export class MessageFormat implements WireFormat {
  readonly name = 'the Messages format';
  readonly textKeys: readonly string[] = ['text'];
  readonly #message: MessageEvents;
  readonly #calls = new Map<number, CallBlock>();
  /** The open block of reasoning; it is returned to the provider if it is signed. */
  #thinking: { text: string; signature: string } | undefined;
  readonly #returned = new ReturnedParts();
  #id: string | undefined;
  #stopReason: FinishReason | undefined;
  readonly #usage: Partial<Record<(typeof USAGE_FIELDS)[number], unknown>> = {};

  constructor(message: MessageEvents) {
    this.#message = message;
  }

  plainText(payload: Fields): string | undefined {
    if (payload['type'] !== 'content_block_delta') return undefined;
    const { delta } = payload;
    if (!isFields(delta) || delta['type'] !== 'text_delta') return undefined;
    return typeof delta['text'] === 'string' ? delta['text'] : undefined;
  }

  read(payload: Fields): void {
    switch (payload['type']) {
      case 'message_start':
        this.#start(payload['message']);
        return;
      case 'content_block_start':
        if (isFields(payload['content_block']))
          this.#startBlock(tokenCount(payload['index']), payload['content_block']);
        return;
      case 'content_block_delta':
        if (isFields(payload['delta'])) this.#delta(tokenCount(payload['index']), payload['delta']);
        return;
      case 'content_block_stop':
        this.#stopBlock(tokenCount(payload['index']));
        return;
      case 'message_delta':
        if (isFields(payload['delta'])) this.#setStopReason(payload['delta']['stop_reason']);
        this.#addUsage(payload['usage']);
        return;
      case 'message_stop':
        this.#finish();
        return;
      case 'error':
        this.#message.providerFailed(payload);
        return;
      default:
        // `ping`, and future events: the format asks its readers to ignore unknown ones.
        if (isFields(payload['error'])) this.#message.providerFailed(payload);
    }
  }

  readDocument(document: Fields): boolean {
    if (document['type'] === 'error' || isFields(document['error'])) {
      this.#message.providerFailed(document);
      return true;
    }
    if (document['type'] !== 'message' || !Array.isArray(document['content'])) return false;
    for (const [index, block] of (document['content'] as readonly unknown[]).entries()) {
      if (!isFields(block)) continue;
      this.#startBlock(index, block);
      this.#stopBlock(index);
    }
    this.#setStopReason(document['stop_reason']);
    this.#addUsage(document['usage']);
    this.#finish();
    return true;
  }

  /** Not part of this format, whose messages end with `message_stop`. */
  done(): void {}

  end(): void {
    this.#message.fail(truncated());
  }

  #start(message: unknown): void {
    if (!isFields(message)) return;
    const id = textField(message, 'id');
    if (this.#id !== undefined) {
      if (id !== this.#id)
        this.#message.fail(invalidStream(this.name, 'a second message began within the first one'));
      return;
    }
    this.#id = id;
    this.#addUsage(message['usage']);
  }

  #startBlock(index: number, block: Fields): void {
    if (!this.#calls.has(index)) this.#message.nextPart();
    switch (block['type']) {
      case 'text':
        this.#returned.textBegins();
        this.#message.text(textField(block, 'text'));
        return;
      case 'thinking':
        this.#thinking = { text: '', signature: '' };
        this.#think(block);
        return;
      case 'redacted_thinking':
        this.#returned.add({ type: 'redacted_thinking', data: textField(block, 'data') });
        return;
      case 'tool_use':
        this.#calls.set(index, { input: fieldsOf(block['input']), hasDeltas: false });
        this.#message.toolCall({
          index,
          id: textField(block, 'id'),
          name: textField(block, 'name'),
          providerValue: this.#returned.take(),
        });
        return;
      default:
      // Tools that the provider runs, their results, hidden reasoning, compaction: nothing to do.
    }
  }

  #delta(index: number, delta: Fields): void {
    switch (delta['type']) {
      case 'text_delta':
        this.#message.text(textField(delta, 'text'));
        return;
      case 'thinking_delta':
      case 'signature_delta':
        this.#think(delta);
        return;
      case 'input_json_delta': {
        const call = this.#calls.get(index);
        const fragment = textField(delta, 'partial_json');
        if (call === undefined || fragment === '') return;
        call.hasDeltas = true;
        this.#message.toolCall({ index, arguments: fragment });
        return;
      }
      default:
    }
  }

  #think(piece: Fields): void {
    const thinking = textField(piece, 'thinking');
    this.#message.reasoning(thinking);
    if (this.#thinking === undefined) return;
    this.#thinking.text += thinking;
    this.#thinking.signature += textField(piece, 'signature');
    if (this.#thinking.text.length > MOST_CHARACTERS) this.#thinking = undefined;
  }

  #stopBlock(index: number): void {
    if (this.#thinking !== undefined && this.#thinking.signature !== '') {
      const { text, signature } = this.#thinking;
      this.#returned.add({ type: 'thinking', thinking: text, signature });
    }
    this.#thinking = undefined;
    const call = this.#calls.get(index);
    if (call === undefined) return;
    const given = call.hasDeltas ? {} : call.input;
    call.hasDeltas = true;
    this.#message.toolCall({
      index,
      ended: true,
      ...(Object.keys(given).length === 0 ? {} : { arguments: JSON.stringify(given) }),
    });
  }

  #setStopReason(reason: unknown): void {
    if (typeof reason !== 'string') return;
    // An unknown reason counts as `length`: the answer is then checked and continued, not assumed to be complete.
    this.#stopReason = STOP_REASONS.get(reason) ?? 'length';
  }

  /** Counts grow in later events. A count that is missing there keeps its value. */
  #addUsage(usage: unknown): void {
    if (!isFields(usage)) return;
    for (const name of USAGE_FIELDS) {
      this.#usage[name] = usage[name] ?? this.#usage[name];
    }
    this.#message.usage(readUsage(this.#usage));
  }

  #finish(): void {
    this.#message.finish(this.#stopReason, this.#returned.takeRest());
  }
}

const STOP_REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['refusal', 'refusal'],
  ['pause_turn', 'pause'],
  ['compaction', 'pause'],
]);

const USAGE_FIELDS = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens_details',
] as const;

function readUsage(usage: Fields): Usage {
  const cached = tokenCount(usage['cache_read_input_tokens']);
  const details = fieldsOf(usage['output_tokens_details']);
  return {
    // The wire format counts tokens read from the cache and written to it separately.
    inputTokens:
      tokenCount(usage['input_tokens']) + cached + tokenCount(usage['cache_creation_input_tokens']),
    outputTokens: tokenCount(usage['output_tokens']),
    cachedTokens: cached,
    reasoningTokens: tokenCount(details['thinking_tokens']),
  };
}

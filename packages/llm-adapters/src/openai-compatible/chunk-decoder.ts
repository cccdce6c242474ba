import { ERROR_CODES } from '@orion/contracts';
import type { ErrorInfo, FinishReason, LlmEvent, Usage } from '@orion/contracts';

import { classifyFailure, providerError, quoteProvider, readFailure } from '../provider-error.ts';
import type { Redact } from '../provider-error.ts';
import { ToolCallMerger } from '../tool-call-merger.ts';
import { createThinkTags } from './think-tags.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The payloads of one chat-completions stream turned into events.
 *
 * 1. Text that came with one `take` is one delta; nothing is dropped, and no other event overtakes it.
 * 2. Only choice 0 counts, and nothing is keyed by the chunk's id, which some servers change on every chunk.
 * 3. The message has ended with `[DONE]`, or with a finish reason and an orderly end of the body. A finish reason
 *    alone is not an end: an error may still follow it.
 * 4. Exactly one `finish` or `error`, last; `usage` stands before it.
 * 5. A delta never ends between the two halves of a surrogate pair, except at the message's end.
 */
export class ChunkDecoder {
  readonly #redact: Redact;
  #events: LlmEvent[] = [];
  #text = '';
  #reasoning = '';
  #contentSeen = false;
  #refused = false;
  #finishReason: FinishReason | undefined;
  #usage: Usage | undefined;
  #ended = false;
  readonly #calls: ToolCallMerger = new ToolCallMerger((event) => {
    this.#flush();
    this.#events.push(event);
  });
  readonly #think: ReturnType<typeof createThinkTags> = createThinkTags({
    onText: (text) => {
      if (this.#reasoning !== '') this.#flush();
      this.#text += text;
    },
    onReasoning: (text) => this.#addReasoning(text),
  });

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  /** Whether the final event has been made. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The events that came since the last call. */
  take(): LlmEvent[] {
    let half = '';
    const last = this.#text.charCodeAt(this.#text.length - 1);
    if (last >= 0xd800 && last <= 0xdbff) {
      half = this.#text.slice(-1);
      this.#text = this.#text.slice(0, -1);
    }
    this.#flush();
    this.#text = half;
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** `atEnd`: the body ended inside this payload. */
  push(data: string, eventName: string | undefined, atEnd: boolean): void {
    if (this.#ended) return;
    if (data.length < 16) {
      const short = data.trim();
      if (short === '') return;
      if (short === '[DONE]') {
        this.#finish();
        return;
      }
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      if (atEnd) this.fail(truncated());
      else if (eventName === 'error') this.fail(classifyFailure({ message: data }, this.#redact));
      else
        this.fail(
          invalid(`a payload is not JSON: ${quoteProvider(data.slice(0, 200), this.#redact)}`),
        );
      return;
    }
    if (eventName === 'error') this.fail(classifyFailure(readFailure(chunk), this.#redact));
    else if (isFields(chunk)) this.#chunk(chunk);
    else this.fail(invalid('a payload is not a JSON object'));
  }

  /** A whole answer in one JSON document, from servers that do not stream. */
  pushDocument(text: string): void {
    let document: unknown;
    try {
      document = JSON.parse(text);
    } catch {
      this.fail(truncated());
      return;
    }
    if (!isFields(document)) {
      this.fail(invalid('the answer is JSON, but not a chat completion'));
      return;
    }
    this.#chunk(document);
    if (this.#ended) return;
    if (Array.isArray(document['choices'])) this.#finish();
    else this.fail(invalid('the answer is JSON, but not a chat completion'));
  }

  /** The body has ended in an orderly way. */
  end(): void {
    if (this.#ended) return;
    if (this.#finishReason === undefined) this.fail(truncated());
    else this.#finish();
  }

  fail(error: ErrorInfo): void {
    if (this.#ended) return;
    this.#think.end();
    this.#flush();
    if (this.#usage !== undefined) this.#events.push({ type: 'usage', usage: this.#usage });
    this.#events.push({ type: 'error', error });
    this.#ended = true;
  }

  #chunk(chunk: Fields): void {
    const usage =
      chunk['usage'] ?? (isFields(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined);
    if (isFields(usage)) this.#usage = readUsage(usage);
    if (chunk['error'] !== undefined && chunk['error'] !== null) {
      this.fail(classifyFailure(readFailure(chunk['error']), this.#redact));
      return;
    }
    const choices = chunk['choices'];
    if (Array.isArray(choices)) {
      for (const choice of choices as readonly unknown[]) {
        if (isFields(choice) && (choice['index'] ?? 0) === 0) this.#choice(choice);
        if (this.#ended) return;
      }
    }
  }

  #choice(choice: Fields): void {
    if (choice['error'] !== undefined && choice['error'] !== null) {
      this.fail(classifyFailure(readFailure(choice['error']), this.#redact));
      return;
    }
    const delta = choice['delta'];
    if (isFields(delta)) this.#delta(delta);
    // Servers that pretend to stream send the whole message at once; after deltas it would be a repetition.
    else if (isFields(choice['message']) && !this.#contentSeen) this.#delta(choice['message']);
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') this.#setFinishReason(reason);
  }

  #delta(delta: Fields): void {
    const reasoning = delta['reasoning_content'] ?? delta['reasoning'];
    if (typeof reasoning === 'string' && reasoning !== '') this.#addReasoning(reasoning);
    const content = delta['content'];
    if (typeof content === 'string') {
      if (content !== '') {
        this.#contentSeen = true;
        this.#think.push(content);
      }
    } else if (Array.isArray(content)) {
      for (const part of content as readonly unknown[]) this.#part(part);
    }
    const refusal = delta['refusal'];
    if (typeof refusal === 'string' && refusal !== '') {
      this.#refused = true;
      this.#contentSeen = true;
      this.#think.push(refusal);
    }
    const calls = delta['tool_calls'];
    if (Array.isArray(calls)) {
      for (const call of calls as readonly unknown[]) if (isFields(call)) this.#toolCall(call);
    }
  }

  /** Content in parts, as some servers send it: text, or reasoning that is again a list of parts. */
  #part(part: unknown): void {
    if (!isFields(part)) return;
    if (typeof part['text'] === 'string') {
      this.#contentSeen = true;
      this.#think.push(part['text']);
    } else if (Array.isArray(part['thinking'])) {
      for (const thought of part['thinking'] as readonly unknown[]) {
        if (isFields(thought) && typeof thought['text'] === 'string')
          this.#addReasoning(thought['text']);
      }
    }
  }

  #toolCall(call: Fields): void {
    this.#contentSeen = true;
    const named = isFields(call['function']) ? call['function'] : {};
    const given = named['arguments'];
    this.#calls.push({
      index: typeof call['index'] === 'number' ? call['index'] : undefined,
      id: typeof call['id'] === 'string' ? call['id'] : undefined,
      name: typeof named['name'] === 'string' ? named['name'] : undefined,
      // Some local servers send the object itself instead of its text.
      arguments:
        typeof given === 'string' ? given : isFields(given) ? JSON.stringify(given) : undefined,
    });
  }

  #addReasoning(text: string): void {
    if (this.#text !== '') this.#flush();
    this.#reasoning += text;
  }

  #setFinishReason(wireReason: string): void {
    const failure = FAILED_REASONS.get(wireReason);
    if (failure !== undefined) {
      this.fail(
        providerError(failure, `The provider stopped with the reason "${wireReason}"`, true),
      );
      return;
    }
    const reason = FINISH_REASONS.get(wireReason) ?? 'length';
    // Repeated reasons: the one that says most about the answer stays.
    const rank = (value: FinishReason | undefined): number =>
      value === undefined ? -1 : RANKING.indexOf(value);
    if (rank(reason) > rank(this.#finishReason)) this.#finishReason = reason;
  }

  #finish(): void {
    this.#think.end();
    this.#flush();
    const wire = this.#finishReason;
    this.#calls.end(wire === 'length');
    if (this.#usage !== undefined) this.#events.push({ type: 'usage', usage: this.#usage });
    this.#events.push({ type: 'finish', reason: this.#reason(wire) });
    this.#ended = true;
  }

  /** Some servers say `stop` after tool calls, and some `tool_calls` without any. */
  #reason(wire: FinishReason | undefined): FinishReason {
    if (wire === 'length' || wire === 'refusal') return wire;
    if (this.#calls.count > 0) return 'tool_calls';
    return this.#refused ? 'refusal' : 'stop';
  }

  #flush(): void {
    if (this.#reasoning !== '') {
      this.#events.push({ type: 'reasoning-delta', text: this.#reasoning });
      this.#reasoning = '';
    }
    if (this.#text !== '') {
      this.#events.push({ type: 'text-delta', text: this.#text });
      this.#text = '';
    }
  }
}

/**
 * A reason that is not listed counts as `length`: the only one after which an answer is checked for its end and
 * continued instead of being taken for whole.
 */
const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['complete', 'stop'],
  ['completed', 'stop'],
  ['STOP', 'stop'],
  ['tool_calls', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'refusal'],
  ['refusal', 'refusal'],
  ['SAFETY', 'refusal'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['MAX_TOKENS', 'length'],
]);

/** Reasons that mean the provider gave up. */
const FAILED_REASONS: ReadonlyMap<string, 'PROVIDER_ERROR' | 'PROVIDER_OVERLOADED'> = new Map<
  string,
  'PROVIDER_ERROR' | 'PROVIDER_OVERLOADED'
>([
  ['error', 'PROVIDER_ERROR'],
  ['network_error', 'PROVIDER_ERROR'],
  ['abort', 'PROVIDER_ERROR'],
  ['cancelled', 'PROVIDER_ERROR'],
  ['insufficient_system_resource', 'PROVIDER_OVERLOADED'],
]);

const RANKING: readonly FinishReason[] = ['stop', 'tool_calls', 'refusal', 'length'];

export function truncated(): ErrorInfo {
  return providerError(
    'STREAM_TRUNCATED',
    'The provider ended the stream without its end mark',
    true,
  );
}

export function invalid(what: string): ErrorInfo {
  return providerError(
    'STREAM_INVALID',
    `The stream is not chat completions: ${what}`,
    false,
    ERROR_CODES.STREAM_INVALID,
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readUsage(usage: Fields): Usage {
  const prompt = isFields(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const completion = isFields(usage['completion_tokens_details'])
    ? usage['completion_tokens_details']
    : {};
  return {
    inputTokens: count(usage['prompt_tokens']),
    outputTokens: count(usage['completion_tokens']),
    // DeepSeek's own name stands beside the usual one.
    cachedTokens: count(prompt['cached_tokens'] ?? usage['prompt_cache_hit_tokens']),
    reasoningTokens: count(completion['reasoning_tokens']),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : 0;
}

import { isFields } from '@orion/contracts';
import type { Fields, FinishReason, JsonObject, Usage } from '@orion/contracts';

import {
  NO_REASONING,
  REASONING_DETAILS,
  REASONING_FIELDS,
  ReasoningDetails,
} from '../historic-reasoning.ts';
import { providerError } from '../provider-error.ts';
import { truncated } from '../stream/message-events.ts';
import type { MessageEvents } from '../stream/message-events.ts';
import { isFilled, textField, tokenCount } from '../stream/payloads.ts';
import type { WireFormat } from '../stream/payloads.ts';

/** Of the reasoning before a call, which every later request repeats. Well within the limit of provider data. */
const MOST_REASONING_CHARACTERS = 128 * 1024;

/**
 * What the payloads of a chat-completions stream mean.
 *
 * 1. Only choice 0 counts. Nothing is keyed by the chunk's id, because some servers change it in every chunk.
 * 2. A message ends with `[DONE]`, or with a finish reason and an orderly end of the body. A finish reason alone is not
 *    an end: an error may still follow.
 * 3. The reasoning before the first call is returned with it: servers of thinking models refuse a call that has lost it.
 *    OpenRouter's details of it are returned with the message, whole and in order: Gemini refuses calls without them.
 */
export class ChunkFormat implements WireFormat {
  readonly name = 'chat completions';
  readonly textKeys: readonly string[] = ['content'];
  readonly #message: MessageEvents;
  /** What came before the first call, and the field that it began in. */
  #reasoning: { readonly field: (typeof REASONING_FIELDS)[number]; text: string } | undefined;
  readonly #details = new ReasoningDetails();
  #refused = false;
  #finishReason: FinishReason | undefined;

  constructor(message: MessageEvents) {
    this.#message = message;
  }

  plainText(chunk: Fields): string | undefined {
    const { choices } = chunk;
    if (!Array.isArray(choices) || choices.length !== 1) return undefined;
    if (isFilled(chunk['usage']) || isFilled(chunk['x_groq']) || isFilled(chunk['error']))
      return undefined;
    const [choice] = choices as readonly unknown[];
    if (!isFields(choice) || (choice['index'] ?? 0) !== 0) return undefined;
    if (isFilled(choice['finish_reason']) || isFilled(choice['error'])) return undefined;
    const { delta } = choice;
    if (!isFields(delta) || typeof delta['content'] !== 'string') return undefined;
    const more =
      REASONING_FIELDS.some((field) => isFilled(delta[field])) ||
      listOf(delta[REASONING_DETAILS]).length > 0 ||
      isFilled(delta['refusal']) ||
      isFilled(delta['tool_calls']);
    if (more) return undefined;
    return delta['content'];
  }

  read(chunk: Fields): void {
    const usage =
      chunk['usage'] ?? (isFields(chunk['x_groq']) ? chunk['x_groq']['usage'] : undefined);
    if (isFields(usage)) this.#message.usage(readUsage(usage));
    if (chunk['error'] !== undefined && chunk['error'] !== null) {
      this.#message.providerFailed(chunk['error']);
      return;
    }
    const { choices } = chunk;
    if (!Array.isArray(choices)) return;
    for (const choice of choices as readonly unknown[]) {
      if (isFields(choice) && (choice['index'] ?? 0) === 0) this.#choice(choice);
      if (this.#message.ended) return;
    }
  }

  readDocument(document: Fields): boolean {
    this.read(document);
    if (this.#message.ended) return true;
    if (!Array.isArray(document['choices'])) return false;
    this.done();
    return true;
  }

  done(): void {
    // A refusal in a field of its own counts as one without a finish reason, too.
    const refused = this.#refused && this.#message.calls === 0 && this.#finishReason !== 'length';
    const details = this.#message.calls > 0 ? this.#details.take() : undefined;
    this.#message.finish(refused ? 'refusal' : this.#finishReason, details);
  }

  end(): void {
    if (this.#finishReason === undefined) this.#message.fail(truncated());
    else this.done();
  }

  #choice(choice: Fields): void {
    if (choice['error'] !== undefined && choice['error'] !== null) {
      this.#message.providerFailed(choice['error']);
      return;
    }
    const delta = choice['delta'];
    if (isFields(delta)) this.#delta(delta);
    // Servers that only pretend to stream send the whole message at once. After deltas it would be a repetition.
    else if (isFields(choice['message']) && !this.#message.hasContent)
      this.#delta(choice['message']);
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') this.#setFinishReason(reason);
  }

  #delta(delta: Fields): void {
    const field = REASONING_FIELDS.find((name) => textField(delta, name) !== '');
    if (field !== undefined) this.#reason(field, textField(delta, field));
    for (const detail of listOf(delta[REASONING_DETAILS])) this.#details.add(detail);
    const { content } = delta;
    if (typeof content === 'string') this.#text(content);
    else if (Array.isArray(content)) {
      for (const part of content as readonly unknown[]) this.#part(part);
    }
    const { refusal } = delta;
    if (typeof refusal === 'string' && refusal !== '') {
      this.#refused = true;
      this.#text(refusal);
    }
    const calls = delta['tool_calls'];
    if (Array.isArray(calls)) {
      for (const call of calls as readonly unknown[]) if (isFields(call)) this.#toolCall(call);
    }
  }

  #reason(field: (typeof REASONING_FIELDS)[number], text: string): void {
    this.#message.reasoning(text);
    if (this.#message.calls > 0) return;
    this.#reasoning ??= { field, text: '' };
    if (this.#reasoning.text.length <= MOST_REASONING_CHARACTERS) this.#reasoning.text += text;
  }

  /**
   * What is returned with a call. Reasoning that is too long is replaced by a blank: servers demand that there is some,
   * and half a thought would mislead the model.
   */
  #returned(extraContent: unknown): JsonObject | undefined {
    const extra = isFields(extraContent) ? (extraContent as JsonObject) : undefined;
    const reasoning = this.#reasoning;
    this.#reasoning = undefined;
    if (reasoning === undefined) return extra;
    const { field, text } = reasoning;
    return { ...extra, [field]: text.length > MOST_REASONING_CHARACTERS ? NO_REASONING : text };
  }

  #text(text: string): void {
    if (text !== '') this.#message.text(text);
  }

  /** Content in parts, as some servers send it: text, or reasoning that is a list of parts itself. */
  #part(part: unknown): void {
    if (!isFields(part)) return;
    if (typeof part['text'] === 'string') {
      this.#text(part['text']);
    } else if (Array.isArray(part['thinking'])) {
      for (const thought of part['thinking'] as readonly unknown[]) {
        if (isFields(thought) && typeof thought['text'] === 'string')
          this.#message.reasoning(thought['text']);
      }
    }
  }

  #toolCall(call: Fields): void {
    const named = isFields(call['function']) ? call['function'] : {};
    const given = named['arguments'];
    this.#message.toolCall({
      index: typeof call['index'] === 'number' ? call['index'] : undefined,
      id: typeof call['id'] === 'string' ? call['id'] : undefined,
      name: typeof named['name'] === 'string' ? named['name'] : undefined,
      // Some local servers send the object instead of its text.
      arguments:
        typeof given === 'string' ? given : isFields(given) ? JSON.stringify(given) : undefined,
      // Gemini signs its reasoning here, and refuses a call without the signature.
      providerValue: this.#returned(call['extra_content']),
    });
  }

  #setFinishReason(wireReason: string): void {
    // Gemini writes `content_filter: RECITATION`.
    const [kind = ''] = wireReason.split(':', 1);
    const failure = FAILED_REASONS.get(kind);
    if (failure !== undefined) {
      this.#message.fail(
        providerError(failure, `The provider stopped with the reason "${wireReason}"`, true),
      );
      return;
    }
    const reason = FINISH_REASONS.get(kind) ?? 'length';
    // If reasons are repeated, the one that says most about the answer counts.
    const rank = (value: FinishReason | undefined): number =>
      value === undefined ? -1 : RANKING.indexOf(value);
    if (rank(reason) > rank(this.#finishReason)) this.#finishReason = reason;
  }
}

/**
 * An unknown reason counts as `length`: the only reason after which an answer is checked and continued instead of being
 * assumed to be complete.
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
  ['RECITATION', 'refusal'],
  ['PROHIBITED_CONTENT', 'refusal'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['MAX_TOKENS', 'length'],
]);

/** Reasons by which a provider reports its own failure. */
const FAILED_REASONS: ReadonlyMap<string, 'PROVIDER_ERROR' | 'PROVIDER_OVERLOADED'> = new Map<
  string,
  'PROVIDER_ERROR' | 'PROVIDER_OVERLOADED'
>([
  ['error', 'PROVIDER_ERROR'],
  ['network_error', 'PROVIDER_ERROR'],
  ['abort', 'PROVIDER_ERROR'],
  ['cancelled', 'PROVIDER_ERROR'],
  ['insufficient_system_resource', 'PROVIDER_OVERLOADED'],
  // Gemini could not read a call that the model wrote, and has dropped it. Another answer may have a whole one.
  ['function_call_filter', 'PROVIDER_ERROR'],
  ['MALFORMED_FUNCTION_CALL', 'PROVIDER_ERROR'],
]);

const RANKING: readonly FinishReason[] = ['stop', 'tool_calls', 'refusal', 'length'];

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isCost(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function readUsage(usage: Fields): Usage {
  const prompt = isFields(usage['prompt_tokens_details']) ? usage['prompt_tokens_details'] : {};
  const completion = isFields(usage['completion_tokens_details'])
    ? usage['completion_tokens_details']
    : {};
  return {
    inputTokens: tokenCount(usage['prompt_tokens']),
    outputTokens: tokenCount(usage['completion_tokens']),
    // The second name is DeepSeek's.
    cachedTokens: tokenCount(prompt['cached_tokens'] ?? usage['prompt_cache_hit_tokens']),
    reasoningTokens: tokenCount(completion['reasoning_tokens']),
    // OpenRouter's.
    ...(isCost(usage['cost']) ? { cost: usage['cost'] } : {}),
  };
}

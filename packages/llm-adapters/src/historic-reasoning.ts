import type { AssistantMessage, ErrorInfo, JsonObject, JsonValue, Message } from '@orion/contracts';
import { isFields } from '@orion/contracts';

import { isRefusal } from './provider-error.ts';
import { MOST_CHARACTERS, ownData } from './provider-data.ts';
import type { DataOwner } from './provider-data.ts';
import { textField } from './stream/payloads.ts';

/** The fields of chat completions in which unsigned reasoning comes. It goes back in the same one. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const;

/** OpenRouter's list of signed or encrypted parts of the reasoning. */
export const REASONING_DETAILS = 'reasoning_details';

export type Reasoning = { readonly [Field in (typeof REASONING_FIELDS)[number]]?: string } & {
  readonly reasoning_details?: readonly JsonValue[];
};

/**
 * DeepSeek: "The reasoning_content in the thinking mode must be passed back to the API". Kimi: "thinking is enabled but
 * reasoning_content is missing in assistant tool call message".
 */
const NAMES_REASONING = /\breasoning_content\b/;

/** For a message without any. Kimi takes an empty text for a missing one. */
export const NO_REASONING = ' ';

/** The texts in a detail that arrive in pieces. */
const PIECES = ['text', 'summary'] as const;

/** The details of a message's reasoning: each as if it had arrived whole. */
export class ReasoningDetails {
  readonly #details: Record<string, JsonValue | undefined>[] = [];
  #characters = 0;

  add(detail: unknown): void {
    if (!isFields(detail)) return;
    const given = detail as JsonObject;
    const last = this.#details.at(-1);
    const field = PIECES.find((name) => typeof given[name] === 'string');
    if (
      last === undefined ||
      field === undefined ||
      typeof last[field] !== 'string' ||
      last['type'] !== given['type'] ||
      last['index'] !== given['index']
    ) {
      this.#characters += JSON.stringify(given).length;
      if (this.#characters <= MOST_CHARACTERS) this.#details.push({ ...given });
      return;
    }
    this.#characters += textField(given, field).length;
    if (this.#characters > MOST_CHARACTERS) return;
    const known = Object.entries(given).filter(([, value]) => value !== null);
    const text = textField(last, field) + textField(given, field);
    Object.assign(last, Object.fromEntries(known), { [field]: text });
  }

  /** Undefined if there are none, or more than can be returned whole. */
  take(): JsonObject | undefined {
    if (this.#details.length === 0 || this.#characters > MOST_CHARACTERS) return undefined;
    return { [REASONING_DETAILS]: this.#details };
  }
}

/** The reasoning that came with a message or its calls, if it is from this adapter and model. */
export function reasoningOf(message: AssistantMessage, owner: DataOwner): Reasoning {
  const { toolCalls = [] } = message;
  const own = [...toolCalls, message]
    .map(({ providerData }) => ownData(providerData, owner))
    .filter((data) => isFields(data));
  const found = REASONING_FIELDS.flatMap((field) => {
    const text = own.map((data) => data[field]).find((value) => typeof value === 'string');
    return text === undefined ? [] : [[field, text] as const];
  });
  const details = own.map((data) => data[REASONING_DETAILS]).find((value) => Array.isArray(value));
  const texts: Reasoning = Object.fromEntries(found);
  return details === undefined ? texts : { ...texts, [REASONING_DETAILS]: details };
}

/** Provider data without reasoning. */
export function withoutReasoning(data: JsonObject): JsonObject {
  const { reasoning_content: _content, reasoning: _reasoning, ...rest } = data;
  return rest;
}

/** Whether a server refused this conversation because an assistant message has lost its reasoning. */
export function missesReasoning(
  error: ErrorInfo,
  messages: readonly Message[],
  owner: DataOwner,
): boolean {
  return (
    isRefusal(error) &&
    NAMES_REASONING.test(error.message) &&
    messages.some((message) => lacksReasoning(message, owner))
  );
}

/**
 * The conversation with reasoning in every assistant message, which a server that demands it wants of those by another
 * model, too.
 */
export function withReasoning(messages: readonly Message[], owner: DataOwner): readonly Message[] {
  return messages.map((message) => {
    if (!lacksReasoning(message, owner)) return message;
    const { reasoning = NO_REASONING } = reasoningOf(message, owner);
    const own = ownData(message.providerData, owner);
    const value = { ...(isFields(own) ? own : {}), reasoning_content: reasoning };
    return { ...message, providerData: { adapter: owner.adapter, model: owner.model, value } };
  });
}

function lacksReasoning(message: Message, owner: DataOwner): message is AssistantMessage {
  return (
    message.role === 'assistant' && reasoningOf(message, owner).reasoning_content === undefined
  );
}

import type { AssistantMessage, ErrorInfo, JsonObject, Message } from '@orion/contracts';
import { isFields } from '@orion/contracts';

import { isRefusal } from './provider-error.ts';
import { ownData } from './provider-data.ts';
import type { DataOwner } from './provider-data.ts';

/** The fields of chat completions in which unsigned reasoning comes. It goes back in the same one. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const;

export type Reasoning = { readonly [Field in (typeof REASONING_FIELDS)[number]]?: string };

/**
 * DeepSeek: "The reasoning_content in the thinking mode must be passed back to the API". Kimi: "thinking is enabled but
 * reasoning_content is missing in assistant tool call message".
 */
const NAMES_REASONING = /\breasoning_content\b/;

/** For a message without any. Kimi takes an empty text for a missing one. */
export const NO_REASONING = ' ';

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
  return Object.fromEntries(found);
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

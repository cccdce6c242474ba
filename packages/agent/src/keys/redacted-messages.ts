import { defined } from '@orion/contracts';
import type { AssistantMessage, Message, ProviderData, Redact, ToolCall } from '@orion/contracts';

/**
 * A history as it is stored: without the keys in use in what a provider said. Prompts and results of tools stay as they
 * were, since a model reads them again; but where a call named a key its result may quote it. `known` are messages
 * that were redacted before.
 */
export function redactMessages(
  messages: readonly Message[],
  redact: Redact,
  known: WeakMap<Message, Message> = new WeakMap(),
): readonly Message[] {
  const named = new Set<string>();
  return messages.map((message) => {
    switch (message.role) {
      case 'system':
      case 'user':
        return message;
      case 'assistant': {
        const before = known.get(message);
        const clean = (before as AssistantMessage | undefined) ?? redactedAnswer(message, redact);
        known.set(message, clean);
        for (const [index, call] of (message.toolCalls ?? []).entries()) {
          // Some servers number the calls of each message anew.
          if (clean.toolCalls?.[index] === call) named.delete(call.id);
          else named.add(call.id);
        }
        return clean;
      }
      case 'tool': {
        if (!named.has(message.toolCallId)) return message;
        return { ...message, content: redact(message.content) };
      }
      default:
        return message satisfies never;
    }
  });
}

function redactedAnswer(message: AssistantMessage, redact: Redact): AssistantMessage {
  const toolCalls = message.toolCalls?.map((call) => redactedCall(call, redact));
  const content = redact(message.content);
  const clean = withoutKeys(message, redact);
  const isSame = content === message.content && clean === message;
  if (isSame && toolCalls?.every((call, at) => call === message.toolCalls?.[at]) !== false) {
    return message;
  }
  return { ...clean, content, ...defined({ toolCalls }) };
}

function redactedCall(call: ToolCall, redact: Redact): ToolCall {
  const clean = withoutKeys(call, redact);
  const text = redact(call.arguments);
  return clean === call && text === call.arguments ? call : { ...clean, arguments: text };
}

/** A provider's data that holds a key is dropped: no provider takes a part of what it has signed. */
function withoutKeys<Item extends { readonly providerData?: ProviderData }>(
  item: Item,
  redact: Redact,
): Item {
  if (item.providerData === undefined) return item;
  const text = JSON.stringify(item.providerData.value);
  if (redact(text) === text) return item;
  const { providerData: _dropped, ...rest } = item;
  return rest as Item;
}

import type { Message, ProviderData, Redact, ToolCall } from '@orion/contracts';

/**
 * A history as it is stored: without the keys in use in what a provider said. Prompts and results of tools stay as they
 * were, since a model reads them again; but where a call named a key its result may quote it.
 */
export function redactMessages(messages: readonly Message[], redact: Redact): readonly Message[] {
  const named = new Set<string>();
  return messages.map((message) => {
    switch (message.role) {
      case 'system':
      case 'user':
        return message;
      case 'assistant': {
        const calls = message.toolCalls?.map((call) => redactedCall(call, redact));
        for (const [index, call] of (message.toolCalls ?? []).entries()) {
          // Some servers number the calls of each message anew.
          if (calls?.[index] === call) named.delete(call.id);
          else named.add(call.id);
        }
        const content = redact(message.content);
        const { providerData, ...rest } = message;
        const data = cleanData(providerData, redact);
        const isSame =
          content === message.content &&
          data === providerData &&
          (calls ?? []).every((call, index) => call === message.toolCalls?.[index]);
        if (isSame) return message;
        return {
          ...rest,
          content,
          ...(calls === undefined ? {} : { toolCalls: calls }),
          ...(data === undefined ? {} : { providerData: data }),
        };
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

function redactedCall(call: ToolCall, redact: Redact): ToolCall {
  const { providerData, ...rest } = call;
  const text = redact(call.arguments);
  const data = cleanData(providerData, redact);
  if (text === call.arguments && data === providerData) return call;
  return { ...rest, arguments: text, ...(data === undefined ? {} : { providerData: data }) };
}

/** What holds a key is dropped: no provider takes a part of what it has signed. */
function cleanData(data: ProviderData | undefined, redact: Redact): ProviderData | undefined {
  if (data === undefined) return undefined;
  const text = JSON.stringify(data.value);
  return redact(text) === text ? data : undefined;
}

import type { Message, Redact, ToolCall } from '@orion/contracts';

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
        const isSame =
          content === message.content &&
          (calls ?? []).every((call, index) => call === message.toolCalls?.[index]);
        if (isSame) return message;
        return { ...message, content, ...(calls === undefined ? {} : { toolCalls: calls }) };
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
  const text = redact(call.arguments);
  return text === call.arguments ? call : { ...call, arguments: text };
}

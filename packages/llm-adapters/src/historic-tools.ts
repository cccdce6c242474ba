import type { ErrorInfo, Message, SendOptions, ToolDefinition } from '@orion/contracts';

import { isRefusal } from './provider-error.ts';

/** The most that any format accepts. */
const MOST_TOOLS = 128;

/**
 * Bedrock: "The toolConfig field must be defined when using toolUse and toolResult content blocks". LiteLLM: "without
 * `tools=` param specified".
 */
const NAMES_TOOLS = /\b(toolConfig|tools)\b/;

/** Whether a server refused this conversation because it contains calls while the request offers no tools. */
export function missesTools(
  error: ErrorInfo,
  messages: readonly Message[],
  options: SendOptions,
): boolean {
  return (
    isRefusal(error) && NAMES_TOOLS.test(error.message) && withTools(messages, options) !== options
  );
}

/** The options with a stub for each tool that the conversation has called, if they offer no tools themselves. */
export function withTools(messages: readonly Message[], options: SendOptions): SendOptions {
  if (options.tools !== undefined && options.tools.length > 0) return options;
  const calls = messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  );
  const names = new Set(calls.map(({ name }) => name).filter((name) => name.trim() !== ''));
  if (names.size === 0) return options;
  return { ...options, tools: [...names].slice(0, MOST_TOOLS).map(stub), tool_choice: 'none' };
}

/** Some gateways know no choice of none, so the model has to read it. */
function stub(name: string): ToolDefinition {
  const description = 'No longer available. Answer in text.';
  return { name, description, parameters: { type: 'object', properties: {} } };
}

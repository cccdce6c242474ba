import type { AssistantMessage, Message, ToolDefinition, ToolMessage } from '@orion/contracts';
import { controllerPrompt } from './prompt.ts';

/**
 * The history for models without native tool calls: system, user and assistant text only.
 *
 * 1. The prompt follows the first system messages and stays the same for a whole turn, so that the beginning of every
 *    request can be cached.
 * 2. A call and its output become one user message. The model's earlier answers are shown in the form in which it
 *    must answer.
 * 3. LAST TOOL OUTPUT is the real output of the latest call since the last user message, or `None` (R201).
 */

/** For a controller's own model call; `last` are messages for this call only. */
export function controllerMessages(
  history: readonly Message[],
  tools: readonly ToolDefinition[],
  last: readonly Message[] = [],
): readonly Message[] {
  const lastUser = history.findLastIndex((message) => message.role === 'user');
  const lastTool = history.findLastIndex((message) => message.role === 'tool');
  const shown = lastTool > lastUser ? lastTool : -1;
  const messages = withPrompt(history, tools, (message, index) => {
    if (message.role === 'tool') {
      return index === shown ? [] : [user(`EARLIER TOOL OUTPUT\n${output(history, message)}`)];
    }
    return message.role === 'assistant' ? answer(message) : [message];
  });
  const tool = history[shown];
  const lastOutput = tool?.role === 'tool' ? output(history, tool) : 'None';
  return [...messages, user(`LAST TOOL OUTPUT\n${lastOutput}\n\n${ASKS_FOR_JSON}`), ...last];
}

/** For the stage in which a file is streamed: everything after the output of its begin is plain text. */
export function contentStageMessages(
  history: readonly Message[],
  tools: readonly ToolDefinition[],
): readonly Message[] {
  const begin = history.findLastIndex((message) => message.role === 'tool');
  return withPrompt(history, tools, (message, index) => {
    if (message.role === 'tool') {
      return index === begin
        ? [user(`LAST TOOL OUTPUT\n${output(history, message)}\n\n${ASKS_FOR_CONTENT}`)]
        : [user(`EARLIER TOOL OUTPUT\n${output(history, message)}`)];
    }
    return message.role === 'assistant' && index < begin ? answer(message) : [message];
  });
}

const ASKS_FOR_JSON = 'Answer with one JSON object.';

const ASKS_FOR_CONTENT =
  'Your next messages are the content of this file itself: plain text, no JSON, until it is complete. After that you answer with JSON again.';

function withPrompt(
  history: readonly Message[],
  tools: readonly ToolDefinition[],
  render: (message: Message, index: number) => readonly Message[],
): Message[] {
  const first = history.findIndex((message) => message.role !== 'system');
  const head = first === -1 ? history.length : first;
  return [
    ...history.slice(0, head),
    { role: 'system', content: controllerPrompt(tools) },
    ...history.slice(head).flatMap((message, index) => render(message, head + index)),
  ];
}

function answer(message: AssistantMessage): readonly Message[] {
  if (!/\S/.test(message.content)) return [];
  return [
    {
      role: 'assistant',
      content: JSON.stringify({ action: 'complete', message: message.content }),
    },
  ];
}

function output(history: readonly Message[], tool: ToolMessage): string {
  const call = history
    .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
    .findLast(({ id }) => id === tool.toolCallId);
  return `${tool.toolName} ${call?.arguments ?? ''}\n${tool.content}`;
}

function user(content: string): Message {
  return { role: 'user', content };
}

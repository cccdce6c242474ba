import type { Message, SendOptions, ToolCall, ToolDefinition } from '@orion/contracts';
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';

import { createCallIds, historicArguments, toolName } from '../conversation.ts';
import type { CallIds } from '../conversation.ts';
import type { Refusals } from '../refused-parameters.ts';
import type { Quirks } from './quirks.ts';

/** OpenAI refuses longer ones; other providers' ids may be. */
const LONGEST_CALL_ID = 40;

export type RequestDefaults = {
  readonly model: string;
  readonly temperature: number | undefined;
  readonly maxTokens: number;
  readonly quirks: Quirks;
  /** What this server has refused before. */
  readonly refusals: Refusals;
};

export function buildRequest(
  messages: readonly Message[],
  options: SendOptions,
  defaults: RequestDefaults,
): ChatCompletionCreateParamsStreaming {
  const { quirks, refusals } = defaults;
  const temperature = options.temperature ?? defaults.temperature;
  const tools = options.tools ?? [];
  const limit = limitParameter(quirks.limitParameter, refusals);
  const ids = createCallIds(LONGEST_CALL_ID);
  return {
    model: defaults.model,
    messages: messages.flatMap((message) => convertMessage(message, ids)),
    stream: true,
    ...(refusals.has('stream_options') ? {} : { stream_options: { include_usage: true } }),
    ...(limit === undefined ? {} : { [limit]: options.max_tokens ?? defaults.maxTokens }),
    ...(temperature === undefined || quirks.temperature === 'never' || refusals.has('temperature')
      ? {}
      : { temperature }),
    ...(tools.length === 0 ? {} : { tools: tools.map(convertTool) }),
    ...(tools.length === 0 || options.tool_choice === undefined || refusals.has('tool_choice')
      ? {}
      : { tool_choice: options.tool_choice }),
    ...(options.responseFormat?.type === 'json_schema'
      ? {
          response_format: {
            type: 'json_schema',
            json_schema: {
              name: options.responseFormat.name,
              schema: options.responseFormat.schema,
              strict: options.responseFormat.strict ?? true,
            },
          },
        }
      : {}),
  };
}

function limitParameter(
  first: Quirks['limitParameter'],
  refusals: Refusals,
): Quirks['limitParameter'] | undefined {
  const remedy = refusals.get(first);
  if (remedy === undefined) return first;
  const other = first === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  return remedy === 'swap' && !refusals.has(other) ? other : undefined;
}

/** Empty messages are left out: servers refuse them. A tool message stays, since the call before it needs one. */
function convertMessage(message: Message, ids: CallIds): ChatCompletionMessageParam[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return message.content.trim() === ''
        ? []
        : [{ role: message.role, content: message.content }];
    case 'assistant': {
      const calls = message.toolCalls ?? [];
      if (calls.length > 0) {
        // An empty text and not null: templates of local models print a null as a word.
        return [
          {
            role: 'assistant',
            content: message.content,
            tool_calls: calls.map((call) => convertCall(call, ids)),
          },
        ];
      }
      return message.content.trim() === '' ? [] : [{ role: 'assistant', content: message.content }];
    }
    case 'tool':
      return [
        { role: 'tool', tool_call_id: ids.ofResult(message.toolCallId), content: message.content },
      ];
    default:
      message satisfies never;
      return [];
  }
}

function convertCall(
  call: ToolCall,
  ids: CallIds,
): {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
} {
  return {
    id: ids.ofCall(call.id),
    type: 'function',
    function: { name: toolName(call.name), arguments: historicArguments(call) },
  };
}

function convertTool(tool: ToolDefinition): ChatCompletionTool {
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: tool.parameters },
  };
}

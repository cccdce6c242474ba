import { defined, isFields } from '@orion/contracts';
import type {
  Fields,
  Message,
  SendOptions,
  ToolCall,
  ToolDefinition,
  ToolNames,
} from '@orion/contracts';
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionMessageFunctionToolCall,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';

import {
  createCallIds,
  historicArguments,
  isBlank,
  splitSystem,
  toolNamesOf,
} from '../conversation.ts';
import type { CallIds } from '../conversation.ts';
import { reasoningOf, withoutReasoning } from '../historic-reasoning.ts';
import { ownData } from '../provider-data.ts';
import type { DataOwner } from '../provider-data.ts';
import { namedSchema, requestParameters } from '../request-parameters.ts';
import type { RequestDefaults } from '../request-parameters.ts';
import { argumentsSchema } from '../schema.ts';
import type { Quirks } from './quirks.ts';

/** OpenAI refuses longer ids; those of other providers may be longer. */
const LONGEST_CALL_ID = 40;

export function buildRequest(
  messages: readonly Message[],
  options: SendOptions,
  defaults: RequestDefaults<Quirks>,
): ChatCompletionCreateParamsStreaming {
  const { maxTokens, temperature, tools, toolChoice, schema, stop } = requestParameters(
    options,
    defaults,
  );
  const { system, rest } = splitSystem(messages);
  const ids = createCallIds(LONGEST_CALL_ID);
  const names = toolNamesOf(options);
  return {
    model: defaults.model,
    messages: [
      // The templates of many local models accept only one.
      ...(system.length === 0 ? [] : [{ role: 'system' as const, content: system.join('\n\n') }]),
      ...rest.flatMap((message) => convertMessage(message, ids, names, defaults)),
    ],
    stream: true,
    stream_options: { include_usage: true },
    [defaults.quirks.limitParameter]: maxTokens,
    ...defined({
      temperature,
      stop,
      tools: tools?.map(convertTool),
      tool_choice: toolChoice,
      response_format: schema && { type: 'json_schema', json_schema: namedSchema(schema) },
    }),
  };
}

/** Omits empty messages, which servers refuse. A tool message stays, because the call before it needs one. */
function convertMessage(
  message: Message,
  ids: CallIds,
  names: ToolNames,
  owner: DataOwner,
): ChatCompletionMessageParam[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return isBlank(message.content) ? [] : [{ role: message.role, content: message.content }];
    case 'assistant': {
      const { role, content, toolCalls = [] } = message;
      const reasoning = reasoningOf(message, owner);
      if (toolCalls.length === 0) return isBlank(content) ? [] : [{ role, content, ...reasoning }];
      // Empty text instead of null: the templates of some local models print null as a word.
      return [
        {
          role,
          content,
          ...reasoning,
          tool_calls: toolCalls.map((call) => convertCall(call, ids, names, owner)),
        },
      ];
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
  names: ToolNames,
  owner: DataOwner,
): ChatCompletionMessageFunctionToolCall & { extra_content?: Fields } {
  const own = ownData(call.providerData, owner);
  const extra = isFields(own) ? withoutReasoning(own) : {};
  return {
    ...(Object.keys(extra).length === 0 ? {} : { extra_content: extra }),
    id: ids.ofCall(call.id),
    type: 'function',
    function: { name: names.toWire(call.name), arguments: historicArguments(call) },
  };
}

function convertTool(tool: ToolDefinition): ChatCompletionTool {
  return {
    type: 'function',
    function: {
      name: tool.name,
      description: tool.description,
      parameters: argumentsSchema(tool.parameters),
    },
  };
}

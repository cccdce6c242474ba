import { defined } from '@orion/contracts';
import type { Fields, Message, SendOptions, ToolDefinition, ToolNames } from '@orion/contracts';
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
  ResponseReasoningItem,
} from 'openai/resources/responses/responses';

import {
  createCallIds,
  historicArguments,
  isBlank,
  splitSystem,
  toolNamesOf,
} from '../conversation.ts';
import type { CallIds } from '../conversation.ts';
import { assistantParts } from '../provider-data.ts';
import type { DataOwner } from '../provider-data.ts';
import { namedSchema, requestParameters } from '../request-parameters.ts';
import type { RequestDefaults } from '../request-parameters.ts';
import { argumentsSchema } from '../schema.ts';
import type { ResponsesQuirks } from './quirks.ts';

const LONGEST_CALL_ID = 64;

/** A conversation as a request of the Responses API. It is sent whole each time, since the provider stores nothing. */
export function buildResponsesRequest(
  messages: readonly Message[],
  options: SendOptions,
  defaults: RequestDefaults<ResponsesQuirks>,
): ResponseCreateParamsStreaming {
  const { maxTokens, temperature, tools, toolChoice, schema } = requestParameters(
    options,
    defaults,
  );
  const { system, rest } = splitSystem(messages);
  const ids = createCallIds(LONGEST_CALL_ID);
  const names = toolNamesOf(options);
  return {
    model: defaults.model,
    stream: true,
    input: rest.flatMap((message) => convertMessage(message, ids, names, defaults)),
    max_output_tokens: maxTokens,
    ...defined({
      instructions: system.length === 0 ? undefined : system.join('\n\n'),
      store: defaults.quirks.store ? false : undefined,
      include: defaults.quirks.encryptedReasoning ? ['reasoning.encrypted_content'] : undefined,
      temperature,
      tools: tools?.map(convertTool),
      tool_choice: toolChoice,
      text: schema && { format: { type: 'json_schema', ...namedSchema(schema) } },
    }),
  };
}

function convertMessage(
  message: Message,
  ids: CallIds,
  names: ToolNames,
  owner: DataOwner,
): ResponseInputItem[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return isBlank(message.content) ? [] : [{ role: message.role, content: message.content }];
    case 'assistant':
      return assistantParts<ResponseInputItem>(message, owner, {
        returned: reasoningItems,
        text: (content) => ({ role: 'assistant', content }),
        call: (call) => ({
          type: 'function_call',
          call_id: ids.ofCall(call.id),
          name: names.toWire(call.name),
          arguments: historicArguments(call),
        }),
      });
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: ids.ofResult(message.toolCallId),
          output: message.content,
        },
      ];
    default:
      message satisfies never;
      return [];
  }
}

/** Reasoning is returned, encrypted, to the model that made it: the provider stores nothing. */
function reasoningItems({ id, summary, encrypted_content: hidden }: Fields): ResponseInputItem[] {
  if (typeof id !== 'string' || typeof hidden !== 'string') return [];
  const parts = (Array.isArray(summary) ? summary : []) as ResponseReasoningItem['summary'];
  return [{ type: 'reasoning', id, summary: parts, encrypted_content: hidden }];
}

function convertTool(tool: ToolDefinition): FunctionTool {
  // Strict tools would require every property; optional ones stay optional.
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: argumentsSchema(tool.parameters),
    strict: false,
  };
}

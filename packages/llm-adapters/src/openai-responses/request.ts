import type { Message, SendOptions, ToolDefinition } from '@orion/contracts';
import type {
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
} from 'openai/resources/responses/responses';

import {
  createCallIds,
  historicArguments,
  isBlank,
  splitSystem,
  toolName,
} from '../conversation.ts';
import type { CallIds } from '../conversation.ts';
import type { Refusals } from '../refused-parameters.ts';
import type { ResponsesQuirks } from './quirks.ts';

export type ResponsesDefaults = {
  readonly model: string;
  readonly temperature: number | undefined;
  readonly maxTokens: number;
  readonly quirks: ResponsesQuirks;
  readonly refusals: Refusals;
};

const LONGEST_CALL_ID = 64;

/** A conversation as the Responses API wants it: whole in every request, since nothing is kept at the provider. */
export function buildResponsesRequest(
  messages: readonly Message[],
  options: SendOptions,
  defaults: ResponsesDefaults,
): ResponseCreateParamsStreaming {
  const { quirks, refusals } = defaults;
  const { system, rest } = splitSystem(messages);
  const ids = createCallIds(LONGEST_CALL_ID);
  const temperature = options.temperature ?? defaults.temperature;
  const tools = options.tools ?? [];
  return {
    model: defaults.model,
    stream: true,
    input: rest.flatMap((message) => convertMessage(message, ids)),
    ...(system.length === 0 ? {} : { instructions: system.join('\n\n') }),
    ...(quirks.store && !refusals.has('store') ? { store: false } : {}),
    ...(refusals.has('max_output_tokens')
      ? {}
      : { max_output_tokens: options.max_tokens ?? defaults.maxTokens }),
    ...(temperature === undefined || quirks.temperature === 'never' || refusals.has('temperature')
      ? {}
      : { temperature }),
    ...(tools.length === 0 ? {} : { tools: tools.map(convertTool) }),
    ...(tools.length === 0 || options.tool_choice === undefined || refusals.has('tool_choice')
      ? {}
      : { tool_choice: options.tool_choice }),
    ...(options.responseFormat?.type === 'json_schema'
      ? {
          text: {
            format: {
              type: 'json_schema',
              name: options.responseFormat.name,
              schema: options.responseFormat.schema,
              strict: options.responseFormat.strict ?? true,
            },
          },
        }
      : {}),
  };
}

function convertMessage(message: Message, ids: CallIds): ResponseInputItem[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return isBlank(message.content) ? [] : [{ role: message.role, content: message.content }];
    case 'assistant':
      return [
        ...(isBlank(message.content)
          ? []
          : [{ role: 'assistant' as const, content: message.content }]),
        ...(message.toolCalls ?? []).map((call) => ({
          type: 'function_call' as const,
          call_id: ids.ofCall(call.id),
          name: toolName(call.name),
          arguments: historicArguments(call),
        })),
      ];
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

function convertTool(tool: ToolDefinition): FunctionTool {
  // Strict tools would need every property to be required; what a tool leaves open stays open.
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters,
    strict: false,
  };
}

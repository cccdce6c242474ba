import type {
  ContentBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  TextBlockParam,
  Tool,
  ToolChoice,
} from '@anthropic-ai/sdk/resources/messages';
import { defined } from '@orion/contracts';
import type {
  Fields,
  JsonObject,
  Message,
  SendOptions,
  ToolDefinition,
  ToolNames,
} from '@orion/contracts';

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
import { requestParameters } from '../request-parameters.ts';
import type { RequestDefaults } from '../request-parameters.ts';
import { argumentsSchema, sanitizeSchema } from '../schema.ts';
import type { MessagesQuirks } from './quirks.ts';

const LONGEST_CALL_ID = 64;
const CACHE_MARK = { type: 'ephemeral' } as const;

/**
 * A conversation as a request of the Messages API.
 *
 * 1. Roles alternate: consecutive messages of one role are merged, and results of calls come first in the message after
 *    the calls.
 * 2. System messages at the start of the conversation are its system prompt; later ones become user messages.
 * 3. Cache marks are at the ends of the stable parts: tools, system prompt, and the conversation so far.
 */
export function buildMessagesRequest(
  messages: readonly Message[],
  options: SendOptions,
  defaults: RequestDefaults<MessagesQuirks>,
): MessageCreateParamsStreaming {
  const { maxTokens, temperature, tools, toolChoice, schema, stop } = requestParameters(
    options,
    defaults,
  );
  const { system, rest } = splitSystem(messages);
  const { cacheMarks } = defaults.quirks;
  const names = toolNamesOf(options);
  const prompt = system.map((text): TextBlockParam => ({ type: 'text', text }));
  return {
    model: defaults.model,
    max_tokens: maxTokens,
    stream: true,
    messages: convertMessages(rest, names, cacheMarks, defaults),
    ...defined({
      system: prompt.length === 0 ? undefined : marked(prompt, cacheMarks),
      temperature,
      stop_sequences: stop,
      tools: tools && marked(tools.map(convertTool), cacheMarks),
      tool_choice: toolChoice && TOOL_CHOICES[toolChoice],
      output_config: schema && {
        format: { type: 'json_schema', schema: { ...sanitizeSchema(schema.schema) } },
      },
    }),
  };
}

const TOOL_CHOICES: Readonly<Record<NonNullable<SendOptions['tool_choice']>, ToolChoice>> = {
  auto: { type: 'auto' },
  none: { type: 'none' },
  required: { type: 'any' },
};

function convertTool(tool: ToolDefinition): Tool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...argumentsSchema(tool.parameters), type: 'object' },
  };
}

function convertMessages(
  messages: readonly Message[],
  names: ToolNames,
  cacheMarks: boolean,
  owner: DataOwner,
): MessageParam[] {
  const ids = createCallIds(LONGEST_CALL_ID);
  const turns: { role: 'user' | 'assistant'; content: ContentBlockParam[] }[] = [];
  for (const message of messages) {
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const blocks = convertMessage(message, ids, names, owner);
    if (blocks.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else turns.push({ role, content: blocks });
  }
  for (const turn of turns) {
    // Results must come before any other user content.
    turn.content.sort((left, right) => rank(left) - rank(right));
  }
  const last = turns.at(-1);
  if (last?.role === 'assistant') trimEnd(last.content);
  if (last?.role === 'user') last.content = marked(last.content, cacheMarks);
  return turns;
}

function rank(block: ContentBlockParam): number {
  return block.type === 'tool_result' ? 0 : 1;
}

function convertMessage(
  message: Message,
  ids: CallIds,
  names: ToolNames,
  owner: DataOwner,
): ContentBlockParam[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return isBlank(message.content) ? [] : [{ type: 'text', text: message.content }];
    case 'assistant':
      return assistantParts<ContentBlockParam>(message, owner, {
        returned: reasoningBlocks,
        text: (text) => ({ type: 'text', text }),
        call: (call) => ({
          type: 'tool_use',
          id: ids.ofCall(call.id),
          name: names.toWire(call.name),
          input: JSON.parse(historicArguments(call)) as JsonObject,
        }),
      });
    case 'tool': {
      const content = isBlank(message.content) ? {} : { content: message.content };
      return [{ type: 'tool_result', tool_use_id: ids.ofResult(message.toolCallId), ...content }];
    }
    default:
      message satisfies never;
      return [];
  }
}

/** Reasoning is returned word for word to the model that signed it; another model would refuse it. */
function reasoningBlocks(part: Fields): ContentBlockParam[] {
  const { type, thinking, signature, data } = part;
  if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string')
    return [{ type, thinking, signature }];
  return type === 'redacted_thinking' && typeof data === 'string' ? [{ type, data }] : [];
}

/** A prefilled answer must not end with white space. */
function trimEnd(blocks: ContentBlockParam[]): void {
  const last = blocks.at(-1);
  if (last?.type === 'text') blocks[blocks.length - 1] = { ...last, text: last.text.trimEnd() };
}

/** Puts a cache mark on the last part if the server supports marks. */
function marked<Part extends object>(parts: Part[], cacheMarks: boolean): Part[] {
  const last = parts.at(-1);
  if (!cacheMarks || last === undefined) return parts;
  return parts.with(-1, { ...last, cache_control: CACHE_MARK });
}

import { z } from 'zod';

import {
  TOOL_CHOICE_NEEDS_TOOLS,
  argumentsText,
  createRequestReader,
  openAiName as name,
  openAiParameters,
  textOf,
} from './schema-parts.ts';
import type { RequestReader } from './schema-parts.ts';

const text = z
  .union([
    z.string().min(1),
    z.array(z.strictObject({ type: z.literal('text'), text: z.string() })).min(1),
  ])
  .transform(textOf);
const toolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  extra_content: z.looseObject({}).optional(),
  function: z.strictObject({ name, arguments: argumentsText }),
});
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: text, name: z.string().optional() }),
  z.strictObject({ role: z.literal('developer'), content: text, name: z.string().optional() }),
  z.strictObject({ role: z.literal('user'), content: text, name: z.string().optional() }),
  z
    .strictObject({
      role: z.literal('assistant'),
      content: z.union([z.string(), z.null()]).optional(),
      tool_calls: z.array(toolCall).min(1).optional(),
      refusal: z.union([z.string(), z.null()]).optional(),
      // Not OpenAI's: what thinking models of other servers take back.
      reasoning_content: z.string().optional(),
      reasoning: z.string().optional(),
      reasoning_details: z.array(z.looseObject({})).optional(),
      name: z.string().optional(),
    })
    .refine((value) => value.tool_calls !== undefined || (value.content ?? '') !== '', {
      error: 'an assistant message needs content or tool calls',
    }),
  z.strictObject({ role: z.literal('tool'), tool_call_id: z.string().min(1), content: z.string() }),
]);
const functionTool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name,
    description: z.string().optional(),
    parameters: openAiParameters.optional(),
    strict: z.boolean().nullable().optional(),
  }),
});

/**
 * A chat-completions request as OpenAI documents it, limited to text content. Unknown fields are refused, as by the
 * strictest server.
 */
const chatRequest = z
  .strictObject({
    model: z.string().min(1),
    messages: z.array(message).min(1),
    stream: z.literal(true),
    stream_options: z.strictObject({ include_usage: z.boolean().optional() }).optional(),
    temperature: z.number().min(0).max(2).optional(),
    top_p: z.number().min(0).max(1).optional(),
    max_tokens: z.int().min(1).optional(),
    max_completion_tokens: z.int().min(1).optional(),
    tools: z.array(functionTool).min(1).max(128).optional(),
    tool_choice: z
      .union([
        z.enum(['none', 'auto', 'required']),
        z.strictObject({ type: z.literal('function'), function: z.strictObject({ name }) }),
      ])
      .optional(),
    parallel_tool_calls: z.boolean().optional(),
    response_format: z
      .discriminatedUnion('type', [
        z.strictObject({ type: z.literal('text') }),
        z.strictObject({ type: z.literal('json_object') }),
        z.strictObject({
          type: z.literal('json_schema'),
          json_schema: z.strictObject({
            name,
            description: z.string().optional(),
            schema: z.looseObject({}).optional(),
            strict: z.boolean().nullable().optional(),
          }),
        }),
      ])
      .optional(),
    stop: z.union([z.string(), z.array(z.string()).max(4), z.null()]).optional(),
    seed: z.int().optional(),
    user: z.string().optional(),
  })
  .refine((value) => value.max_tokens === undefined || value.max_completion_tokens === undefined, {
    error: 'max_tokens and max_completion_tokens exclude each other',
  })
  .refine(
    (value) => value.tools !== undefined || value.tool_choice === undefined,
    TOOL_CHOICE_NEEDS_TOOLS,
  );

type ChatRequest = z.infer<typeof chatRequest>;

/** Every call has exactly one tool message, directly after the message with the call, and there are no others. */
function checkToolMessages({ messages }: ChatRequest): string[] {
  const violations: string[] = [];
  let open = new Set<string>();
  messages.forEach((entry, index) => {
    if (entry.role === 'tool') {
      const { tool_call_id: id } = entry;
      if (!open.delete(id))
        violations.push(`messages.${index}: no call with the id ${id} waits for this tool message`);
      return;
    }
    if (open.size > 0)
      violations.push(`messages.${index}: the calls ${[...open].join(', ')} have no tool message`);
    const calls = entry.role === 'assistant' ? entry.tool_calls : undefined;
    open = new Set(calls?.map((call) => call.id));
  });
  if (open.size > 0) violations.push(`the calls ${[...open].join(', ')} have no tool message`);
  return violations;
}

export const readChatRequest: RequestReader = createRequestReader(
  chatRequest,
  checkToolMessages,
  (request) => ({
    model: request.model,
    messages: request.messages.map(({ role, content }) => ({ role, text: content ?? '' })),
    tools: (request.tools ?? []).map((tool) => tool.function.name),
    toolChoice: typeof request.tool_choice === 'string' ? request.tool_choice : 'auto',
    maxTokens: request.max_completion_tokens ?? request.max_tokens,
    wantsUsage: request.stream_options?.include_usage === true,
  }),
);

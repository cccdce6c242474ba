import { parseFields } from '@orion/contracts';
import type { ProviderRequest } from './provider-request.ts';
import { words } from './schema-parts.ts';
import { z } from 'zod';

/**
 * A chat-completions request as OpenAI's reference describes it, without the parts that need other content than
 * text. Unknown fields are refused: the strictest server counts.
 */
export type ChatRequest = {
  readonly model: string;
  readonly messages: readonly ChatRequestMessage[];
  readonly stream: true;
  readonly stream_options?: { readonly include_usage?: boolean | undefined } | undefined;
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly max_tokens?: number | undefined;
  readonly max_completion_tokens?: number | undefined;
  readonly tools?: readonly { readonly function: { readonly name: string } }[] | undefined;
  readonly tool_choice?: unknown;
  readonly parallel_tool_calls?: boolean | undefined;
  readonly response_format?: unknown;
  readonly stop?: unknown;
  readonly seed?: number | undefined;
  readonly user?: string | undefined;
};

export type ChatRequestMessage = {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content?:
    | string
    | readonly { readonly type: 'text'; readonly text: string }[]
    | null
    | undefined;
  readonly tool_calls?:
    | readonly { readonly id: string; readonly function: { readonly arguments: string } }[]
    | undefined;
  readonly tool_call_id?: string | undefined;
};

const name = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const text = z.union([
  z.string().min(1),
  z.array(z.strictObject({ type: z.literal('text'), text: z.string() })).min(1),
]);
const toolCall = z.strictObject({
  id: z.string().min(1),
  type: z.literal('function'),
  extra_content: z.looseObject({}).optional(),
  function: z.strictObject({
    name,
    arguments: z
      .string()
      .refine((text) => parseFields(text) !== null, { error: 'is not the text of a JSON object' }),
  }),
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
    parameters: z.looseObject({ type: z.literal('object') }).optional(),
    strict: z.boolean().nullable().optional(),
  }),
});

export const chatRequestSchema: z.ZodType<ChatRequest> = z
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
  .refine((value) => value.tools !== undefined || value.tool_choice === undefined, {
    error: 'tool_choice is only allowed when tools are given',
    path: ['tool_choice'],
  });

/** Everything that a strict server would refuse, in words; empty for a valid request. */
export function checkChatRequest(body: unknown): readonly string[] {
  const result = chatRequestSchema.safeParse(body);
  if (!result.success) return words(result.error);
  return checkToolMessages(result.data.messages);
}

/** Every call has exactly one tool message, directly after the message that made it, and no other exists. */
function checkToolMessages(messages: readonly ChatRequestMessage[]): string[] {
  const violations: string[] = [];
  let open = new Set<string>();
  messages.forEach((entry, index) => {
    if (entry.role === 'tool') {
      const id = entry.tool_call_id ?? '';
      if (!open.delete(id))
        violations.push(`messages.${index}: no call with the id ${id} waits for this tool message`);
      return;
    }
    if (open.size > 0)
      violations.push(`messages.${index}: the calls ${[...open].join(', ')} have no tool message`);
    open = new Set((entry.tool_calls ?? []).map((call) => call.id));
  });
  if (open.size > 0) violations.push(`the calls ${[...open].join(', ')} have no tool message`);
  return violations;
}

/** The request in the words of all formats. */
export function readChatRequest(request: ChatRequest): ProviderRequest {
  return {
    model: request.model,
    messages: request.messages.map((entry) => ({ role: entry.role, text: textOf(entry) })),
    tools: (request.tools ?? []).map((tool) => tool.function.name),
    toolChoice: typeof request.tool_choice === 'string' ? request.tool_choice : 'auto',
    maxTokens: request.max_completion_tokens ?? request.max_tokens,
    wantsUsage: request.stream_options?.include_usage === true,
  };
}

function textOf(entry: ChatRequestMessage): string {
  if (typeof entry.content === 'string') return entry.content;
  return (entry.content ?? []).map((part) => part.text).join('');
}

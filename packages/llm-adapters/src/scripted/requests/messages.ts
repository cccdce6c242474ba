import { z } from 'zod';

import type { ProviderRequest, RequestMessage } from './provider-request.ts';
import { createRequestReader, textOf } from './schema-parts.ts';
import type { RequestReader } from './schema-parts.ts';

/**
 * A Messages request as Anthropic documents it, limited to text content. Unknown fields are refused, as by the
 * strictest server.
 */
const cacheControl = z.strictObject({
  type: z.literal('ephemeral'),
  ttl: z.enum(['5m', '1h']).optional(),
});
const spoken = z.string().refine((text) => text.trim() !== '', {
  error: 'text content blocks must contain non-whitespace text',
});
const textBlock = z.strictObject({
  type: z.literal('text'),
  text: spoken,
  cache_control: cacheControl.optional(),
});
/** Content may be a string instead of a list of blocks. */
const soleText = spoken.transform((text) => [{ type: 'text' as const, text }]);
const callId = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: callId,
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  input: z.looseObject({}),
  cache_control: cacheControl.optional(),
});
const thinking = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string().min(1),
});
const hiddenThinking = z.strictObject({
  type: z.literal('redacted_thinking'),
  data: z.string().min(1),
});
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: callId,
  content: z.union([soleText, z.array(textBlock).min(1)]).optional(),
  is_error: z.boolean().optional(),
  cache_control: cacheControl.optional(),
});
const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([soleText, z.array(z.union([textBlock, toolResult])).min(1)]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([
      soleText,
      z.array(z.union([textBlock, toolUse, thinking, hiddenThinking])).min(1),
    ]),
  }),
]);

const messagesRequest = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(message).min(1),
  stream: z.literal(true),
  system: z.union([soleText, z.array(textBlock).min(1)]).optional(),
  temperature: z.number().min(0).max(1).optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
        description: z.string().optional(),
        input_schema: z
          .looseObject({ type: z.literal('object') })
          .refine((schema) => !['oneOf', 'anyOf', 'allOf'].some((keyword) => keyword in schema), {
            error: 'input_schema does not support oneOf, allOf, or anyOf at the top level',
          }),
        cache_control: cacheControl.optional(),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('auto'),
        disable_parallel_tool_use: z.boolean().optional(),
      }),
      z.strictObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().optional() }),
      z.strictObject({ type: z.literal('none') }),
      z.strictObject({ type: z.literal('tool'), name: z.string().min(1) }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      format: z
        .strictObject({ type: z.literal('json_schema'), schema: z.looseObject({}) })
        .optional(),
      effort: z.string().optional(),
    })
    .optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().optional() }).optional(),
});

type MessagesRequest = z.infer<typeof messagesRequest>;

/** The limit of one request. */
const MOST_CACHE_MARKS = 4;

function checkTools(request: MessagesRequest): string[] {
  const violations: string[] = [];
  if (request.tools === undefined && request.tool_choice !== undefined)
    violations.push('tool_choice: may only be specified while providing tools');
  const marks = JSON.stringify(request).split('"cache_control":').length - 1;
  if (marks > MOST_CACHE_MARKS) violations.push(`a maximum of ${MOST_CACHE_MARKS} cache marks`);
  return violations;
}

/** Calls are answered in the next message, before any other content, and ids are used once. */
function checkTurns({ messages }: MessagesRequest): string[] {
  const violations: string[] = [];
  const used = new Set<string>();
  let open = new Set<string>();
  if (messages[0]?.role !== 'user') violations.push("messages: the first one must be the user's");
  messages.forEach(({ role, content }, index) => {
    let spoke = false;
    for (const block of content) {
      if (block.type === 'tool_result') {
        if (spoke) violations.push(`messages.${index}: tool results must come first`);
        if (!open.delete(block.tool_use_id))
          violations.push(`messages.${index}: no tool_use ${block.tool_use_id} before this result`);
      } else {
        spoke = true;
      }
    }
    if (open.size > 0)
      violations.push(`messages.${index}: tool_use ids without results: ${[...open].join(', ')}`);
    open = new Set();
    for (const block of content) {
      if (block.type !== 'tool_use') continue;
      if (used.has(block.id)) violations.push(`messages.${index}: tool_use ids must be unique`);
      used.add(block.id);
      open.add(block.id);
    }
    if (messages[index + 1]?.role === role)
      violations.push(`messages.${index + 1}: roles must alternate`);
  });
  if (open.size > 0) violations.push(`tool_use ids without results: ${[...open].join(', ')}`);
  const last = messages.at(-1);
  const end = last?.role === 'assistant' ? last.content.at(-1) : undefined;
  if (end?.type === 'text' && end.text !== end.text.trimEnd())
    violations.push('messages: final assistant content cannot end with trailing whitespace');
  return violations;
}

const TOOL_CHOICES = new Map<string | undefined, string>([
  ['any', 'required'],
  ['none', 'none'],
]);

function read(request: MessagesRequest): ProviderRequest {
  return {
    model: request.model,
    messages: [
      ...(request.system ?? []).map(({ text }): RequestMessage => ({ role: 'system', text })),
      ...request.messages.flatMap(readMessage),
    ],
    tools: (request.tools ?? []).map((tool) => tool.name),
    toolChoice: TOOL_CHOICES.get(request.tool_choice?.type) ?? 'auto',
    maxTokens: request.max_tokens,
    wantsUsage: true,
  };
}

/** Blocks of a user message were separate messages before the conversion. */
function readMessage({ role, content }: MessagesRequest['messages'][number]): RequestMessage[] {
  if (role === 'assistant')
    return [{ role, text: textOf(content.filter((block) => block.type === 'text')) }];
  return content.map((block) =>
    block.type === 'text'
      ? { role, text: block.text }
      : { role: 'tool', text: textOf(block.content ?? []) },
  );
}

export const readMessagesRequest: RequestReader = createRequestReader(
  messagesRequest,
  (request) => [...checkTurns(request), ...checkTools(request)],
  read,
);

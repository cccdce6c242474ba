import { z } from 'zod';

import type { ProviderRequest, RequestMessage } from './provider-request.ts';
import {
  TOOL_CHOICE_NEEDS_TOOLS,
  argumentsText,
  createRequestReader,
  openAiName as name,
  openAiParameters,
  textOf,
} from './schema-parts.ts';
import type { RequestReader } from './schema-parts.ts';

/**
 * A Responses request as OpenAI documents it, limited to text content. Unknown fields are refused, as by the strictest
 * server.
 */
const callId = z.string().min(1).max(64);
const spoken = z.string().min(1);
const item = z.union([
  z.strictObject({
    type: z.literal('message').optional(),
    role: z.enum(['system', 'developer', 'user', 'assistant']),
    content: z
      .union([
        spoken,
        z
          .array(z.strictObject({ type: z.enum(['input_text', 'output_text']), text: z.string() }))
          .min(1),
      ])
      .transform(textOf),
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string().min(1),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    encrypted_content: z.string().min(1),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    id: z.string().optional(),
    call_id: callId,
    name,
    arguments: argumentsText,
    status: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('function_call_output'),
    id: z.string().optional(),
    call_id: callId,
    output: z.string(),
    status: z.string().optional(),
  }),
]);

const responsesRequest = z
  .strictObject({
    model: z.string().min(1),
    input: z.union([
      spoken.transform((content) => [{ type: 'message' as const, role: 'user' as const, content }]),
      z.array(item).min(1),
    ]),
    stream: z.literal(true),
    instructions: z.string().optional(),
    store: z.boolean().optional(),
    include: z.array(z.enum(['reasoning.encrypted_content'])).optional(),
    temperature: z.number().min(0).max(2).optional(),
    max_output_tokens: z.int().min(16).optional(),
    parallel_tool_calls: z.boolean().optional(),
    tools: z
      .array(
        z.strictObject({
          type: z.literal('function'),
          name,
          description: z.string().optional(),
          parameters: openAiParameters.nullable(),
          strict: z.boolean().nullable(),
        }),
      )
      .min(1)
      .max(128)
      .optional(),
    tool_choice: z
      .union([
        z.enum(['none', 'auto', 'required']),
        z.strictObject({ type: z.literal('function'), name }),
      ])
      .optional(),
    text: z
      .strictObject({
        format: z
          .discriminatedUnion('type', [
            z.strictObject({ type: z.literal('text') }),
            z.strictObject({
              type: z.literal('json_schema'),
              name,
              schema: z.looseObject({}),
              strict: z.boolean().nullable().optional(),
            }),
          ])
          .optional(),
      })
      .optional(),
  })
  .refine(
    (value) => value.tools !== undefined || value.tool_choice === undefined,
    TOOL_CHOICE_NEEDS_TOOLS,
  );

type ResponsesRequest = z.infer<typeof responsesRequest>;

function checkCalls({ input }: ResponsesRequest): string[] {
  const violations: string[] = [];
  const open = new Set<string>();
  const used = new Set<string>();
  input.forEach((entry, index) => {
    if (entry.type === 'function_call') {
      if (used.has(entry.call_id)) violations.push(`input.${index}: the call id is used twice`);
      used.add(entry.call_id);
      open.add(entry.call_id);
    } else if (entry.type === 'function_call_output') {
      if (!open.delete(entry.call_id))
        violations.push(`input.${index}: no call ${entry.call_id} waits for this output`);
    }
  });
  for (const id of open) violations.push(`no tool output found for function call ${id}`);
  return violations;
}

function read(request: ResponsesRequest): ProviderRequest {
  const messages: RequestMessage[] = [];
  if (request.instructions !== undefined)
    messages.push({ role: 'system', text: request.instructions });
  let sameMessage = false;
  for (const entry of request.input) {
    if ('role' in entry) {
      messages.push({ role: entry.role, text: entry.content });
      sameMessage = entry.role === 'assistant';
    } else if (entry.type === 'function_call') {
      // Calls are separate items after the text of their message.
      if (!sameMessage) messages.push({ role: 'assistant', text: '' });
      sameMessage = true;
    } else if (entry.type === 'function_call_output') {
      messages.push({ role: 'tool', text: entry.output });
      sameMessage = false;
    }
  }
  return {
    model: request.model,
    messages,
    tools: (request.tools ?? []).map((tool) => tool.name),
    toolChoice: typeof request.tool_choice === 'string' ? request.tool_choice : 'auto',
    maxTokens: request.max_output_tokens,
    wantsUsage: true,
  };
}

export const readResponsesRequest: RequestReader = createRequestReader(
  responsesRequest,
  checkCalls,
  read,
);

import { isFields } from '@orion/contracts';
import type { JsonObject, Message, Tool, ToolCall, ToolConversation } from '@orion/contracts';

/** Of the tools that ask stored outputs. */
const PREFIX = 'tool_outputs.';
/** A reference is looked for so deep in a result, and in texts that are JSON themselves. */
const MAX_DEPTH = 4;
/** A result with a reference is a message about it, and no document. */
const MAX_TEXT = 256 * 1024;

/** What a model need not repeat. */
export type Known = {
  readonly latestOutput: () => string | null;
  readonly conversation: ToolConversation | undefined;
};

export function asksOutputs(name: string): boolean {
  return name.startsWith(PREFIX);
}

/**
 * The call with the latest stored output and this conversation filled in, where the tool has such an argument and the model
 * left it out (R214). Arguments that are no JSON object stay as they are: the registry refuses them.
 */
export function hydrated(call: ToolCall, tool: Tool, known: Known): ToolCall {
  if (!asksOutputs(call.name) || call.state !== 'complete') return call;
  const declared = tool.definition.parameters['properties'];
  const given = argumentsOf(call);
  if (given === null || !isFields(declared)) return call;
  const id = isMissing(given, declared, 'id') ? known.latestOutput() : null;
  const conversationId = isMissing(given, declared, 'conversation_id')
    ? (known.conversation?.id ?? null)
    : null;
  if (id === null && conversationId === null) return call;
  return {
    ...call,
    arguments: JSON.stringify({
      ...given,
      ...(id === null ? {} : { id }),
      ...(conversationId === null ? {} : { conversation_id: conversationId }),
    }),
  };
}

/** The output that the latest message about one names. */
export function latestReference(messages: readonly Message[]): string | null {
  for (const message of messages.toReversed()) {
    if (message.role !== 'tool' || asksOutputs(message.toolName)) continue;
    const id = referenceIn(message.content);
    if (id !== null) return id;
  }
  return null;
}

/** The id of the `output_ref` in a result, at any place in it. */
export function referenceIn(value: unknown, depth: number = 0): string | null {
  if (depth > MAX_DEPTH) return null;
  if (typeof value === 'string') {
    if (value.length > MAX_TEXT || !value.includes('output_ref')) return null;
    try {
      return referenceIn(JSON.parse(value), depth + 1);
    } catch {
      return null;
    }
  }
  if (typeof value !== 'object' || value === null) return null;
  if (isFields(value)) {
    const reference = value['output_ref'];
    if (isFields(reference) && reference['storage'] === 'app_data') {
      const { id } = reference;
      if (typeof id === 'string') return id;
    }
  }
  for (const inner of Object.values(value)) {
    const id = referenceIn(inner, depth + 1);
    if (id !== null) return id;
  }
  return null;
}

function argumentsOf(call: ToolCall): JsonObject | null {
  if (call.arguments.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(call.arguments);
    return isFields(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function isMissing(given: JsonObject, declared: object, name: string): boolean {
  if (!Object.hasOwn(declared, name)) return false;
  const value = given[name] ?? '';
  return typeof value === 'string' && value.trim() === '';
}

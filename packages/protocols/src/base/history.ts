import { cutText } from '@orion/contracts';
import type {
  JsonValue,
  Message,
  Redact,
  ToolCall,
  ToolMessage,
  ToolResult,
} from '@orion/contracts';

/** The name that the history gives an unnamed call: providers reject an empty name. */
export const UNNAMED_TOOL = 'unnamed_tool';

const SHOWN_BROKEN_ARGUMENTS = 1024;
/** The longest tool result, in characters of JSON, for tools without a limit of their own. */
const MAX_RESULT = 128 * 1024;

/** Whether a call is complete and names a tool. Any other call is answered but never run (R147). */
export function isUsable(call: ToolCall): boolean {
  return call.state === 'complete' && call.name.trim() !== '';
}

/**
 * The messages that can be sent. Leaves out empty and malformed messages, which providers reject, but keeps every
 * assistant message with calls and every answer to a call (R142). Does not change its input.
 */
export function sendableMessages(messages: readonly Message[]): Message[] {
  return messages.filter((message) => {
    const given: unknown = message;
    if (typeof given !== 'object' || given === null) return false;
    if (typeof message.content !== 'string') return false;
    switch (message.role) {
      case 'tool':
        return typeof message.toolCallId === 'string' && message.toolCallId !== '';
      case 'assistant':
        return (message.toolCalls?.length ?? 0) > 0 || /\S/.test(message.content);
      case 'system':
      case 'user':
        return /\S/.test(message.content);
      default:
        return false;
    }
  });
}

/**
 * Gives every call an id that is unique in its message and in the history. Answers are matched to calls by id alone,
 * and some servers number the calls of each message from 0.
 */
export function withDistinctIds(
  calls: readonly ToolCall[],
  history: readonly Message[],
  phaseIndex: number,
): ToolCall[] {
  const taken = new Set(
    history.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.id) : [],
    ),
  );
  return calls.map((call, position) => {
    const given = call.id === '' ? `call_${phaseIndex}_${position}` : call.id;
    let id = given;
    for (let copy = 2; taken.has(id); copy++) id = `${given}_${copy}`;
    taken.add(id);
    return id === call.id ? call : { ...call, id };
  });
}

/**
 * A call as the history keeps it. If a call was not run because of its shape or size, its arguments are replaced by a
 * JSON object that shows how they began: servers parse the arguments in the history, and every later request would
 * pay for a megabyte of cut arguments. `redact` runs before the cut.
 */
export function historicCall(
  call: ToolCall,
  shorten: boolean,
  redact: Redact = (text) => text,
): ToolCall {
  const name = historicName(call.name);
  if (!shorten) return name === call.name ? call : { ...call, name };
  return {
    ...call,
    name,
    arguments: JSON.stringify({
      arguments_not_used: cutText(redact(call.arguments), SHOWN_BROKEN_ARGUMENTS),
      length: call.arguments.length,
    }),
  };
}

/** A name that providers accept in the history: some reject the whole request because of one malformed name. */
export function historicName(name: string): string {
  if (name.trim() === '') return UNNAMED_TOOL;
  return name.replaceAll(/[^\w.-]/g, '_').slice(0, 128);
}

/** A result as the model reads it. */
export function toolMessage(result: ToolResult, earlier?: JsonValue): ToolMessage {
  return {
    role: 'tool',
    toolCallId: result.toolCallId,
    toolName: historicName(result.toolName),
    content: toolMessageContent(result, earlier),
  };
}

function toolMessageContent(result: ToolResult, earlier: JsonValue | undefined): string {
  if (result.success) {
    const text = JSON.stringify(result.result);
    if (text.length <= MAX_RESULT) return text;
    return JSON.stringify({
      result_start: cutText(text, MAX_RESULT),
      result_length: text.length,
      note: 'The result is longer than can be shown; ask for a part of it.',
    });
  }
  const { code, message, hint } = result.error;
  return JSON.stringify({ error: { code, message, hint }, earlier_result: earlier });
}
